/** Requests of compress: photographs, drawings and scans in all formats, with sides of 32 to 1,000 pixels. */
import type { Random } from '../../../src/lib/random.ts'
import { encodeBmp } from '../../../workloads/images/bmp-encode.ts'
import { encodeJpeg } from '../../../workloads/images/jpeg-encode.ts'
import { encodePng } from '../../../workloads/images/png-encode.ts'
import { jpegFile } from '../../../workloads/testing/jpeg-files.ts'
import { type PictureKind, paint, type Recipe } from '../pictures.ts'
import { anySeed, chance, oneOf, type Request, weighted, wholeSpread } from '../stream.ts'

interface Upload extends Recipe {
  format: 'png' | 'jpeg' | 'bmp' | 'progressive'
  quality: number
}

interface PictureRequest extends Request {
  upload: Upload
}

const kinds = { photo: 6, drawing: 3, text: 1 }
const formats = {
  photo: { jpeg: 7, png: 2, bmp: 1, progressive: 1 },
  drawing: { png: 7, jpeg: 2, bmp: 2, progressive: 0 },
  text: { png: 5, jpeg: 4, bmp: 1, progressive: 0 },
}
const shapes = [1, 4 / 3, 3 / 4, 16 / 9, 3 / 2]

export function sample(random: Random): PictureRequest {
  const upload = uploadOf(random, weighted(random, kinds))
  const params: Record<string, unknown> = {}
  if (chance(random, 0.6)) params.format = weighted(random, { png: 4, bmp: 1, jpeg: 2 })
  if (chance(random, 0.5)) params.quality = oneOf(random, [0.2, 0.4, 0.5, 0.6, 0.8, 0.85, 0.9, 0.95, 1])
  if (chance(random, 0.25)) params.maxSide = oneOf(random, [64, 100, 128, 200, 256, 320, 640, 800])
  return { params, body: encoded(upload), upload }
}

/** Another picture of the same kind and size. */
export function vary({ params, upload }: PictureRequest, random: Random): Request {
  return { params, body: encoded({ ...upload, seed: anySeed(random) }) }
}

function uploadOf(random: Random, kind: PictureKind): Upload {
  const width = wholeSpread(random, 32, 1000)
  const height = Math.min(1000, Math.max(32, Math.round(width / oneOf(random, shapes))))
  return {
    kind,
    width,
    height,
    seed: anySeed(random),
    grey: chance(random, 0.1),
    alpha: kind === 'drawing' && chance(random, 0.3),
    grain: 1 + 20 * random.next() ** 2,
    format: weighted(random, formats[kind]),
    quality: oneOf(random, [75, 80, 85, 90, 95]),
  }
}

function encoded(upload: Upload): Uint8Array {
  const { format, width, height, seed, quality } = upload
  if (format === 'progressive') {
    const sampling: [number, number][] = [
      [2, 2],
      [1, 1],
      [1, 1],
    ]
    return jpegFile({ width, height, seed, sampling, progressive: true })
  }
  const picture = paint(upload)
  if (format === 'bmp') return encodeBmp(picture, () => {})
  return format === 'jpeg' ? encodeJpeg(picture, quality, () => {}) : encodePng(picture, 6, () => {})
}
