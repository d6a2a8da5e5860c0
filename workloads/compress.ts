/** Compress: converts an uploaded picture to another format or quality. The cost grows with the number of pixels. */

import { type BodyFacts, defineWorkload, Refusal, reply } from 'plimsoll/workload'
import { coloursOf, decodingPerPixel, encodingPerPixel } from './compress/outlook.ts'
import { shrink } from './compress/shrink.ts'
import { decodeBmp } from './images/bmp-decode.ts'
import { encodeBmp } from './images/bmp-encode.ts'
import { formatOf, type PictureFormat, pictureFormats, readHeader } from './images/header.ts'
import { decodeJpeg } from './images/jpeg-decode.ts'
import { encodeJpeg } from './images/jpeg-encode.ts'
import { layOverWhite, limits, type Picture, type Progress } from './images/picture.ts'
import { decodePng } from './images/png-decode.ts'
import { encodePng } from './images/png-encode.ts'
import { choice, parameters, real, whole } from './params/fields.ts'
import { readUpload } from './uploads/read.ts'

export default defineWorkload({
  name: 'compress',
  description: 'Converts an uploaded PNG, JPEG or BMP picture to another format or quality',
  deterministic: true,
  params: parameters({
    format: choice(pictureFormats).default('jpeg').describe('Output format'),
    quality: real({ min: 0, max: 1 })
      .default(0.7)
      .describe('0 gives the smallest file; 1 gives the best JPEG, or the fastest PNG; ignored for BMP'),
    maxSide: whole({ min: 1, max: limits.side })
      .optional()
      .describe('Largest width and height in pixels; a larger picture is scaled down'),
  }),
  meter: { packages: ['fflate'] },

  features({ format, quality, maxSide }, body) {
    const { input, pixels, longerSide } = sizeOf(body)
    const scale = Math.min(1, (maxSide ?? longerSide) / longerSide)
    const writtenPixels = Math.round(pixels * scale * scale)
    const inputFormat = formatOf(body.head)
    const colours = inputFormat ? coloursOf(body.head, inputFormat) : 'many'
    const isStored = format === 'png' && levelOf(quality) === 0
    const decoded = inputFormat ? pixels * decodingPerPixel(inputFormat, colours) : 0
    const encoded = writtenPixels * encodingPerPixel(format, colours, isStored)
    return {
      input,
      output: format,
      colours,
      quality,
      pixels,
      writtenPixels,
      bytes: body.bytes,
      units: decoded + encoded,
    }
  },

  async run({ format, quality, maxSide }, ctx) {
    const uploaded = await readUpload(
      ctx.body,
      limits.bytes,
      `the picture is larger than the ${limits.bytes} bytes allowed`,
    )
    if (uploaded.length === 0)
      throw new Refusal(400, 'the body is empty: send a picture as the body of a POST request')
    const half = (from: number) => (fraction: number) => ctx.progress(from + fraction / 2)
    const input = formatOf(uploaded)
    if (!input)
      throw new Refusal(415, `the body is not a picture: it must be one of ${pictureFormats.join(', ')}`)
    const original = decoders[input](uploaded, half(0))
    ctx.progress(0.5)
    const picture = maxSide === undefined ? original : shrink(original, maxSide)
    const encoded = encoders[format](picture, quality, half(0.5))
    return reply(encoded, {
      contentType: `image/${format}`,
      headers: {
        'picture-width': String(picture.width),
        'picture-height': String(picture.height),
        'picture-bytes': String(encoded.length),
        'original-format': input,
        'original-width': String(original.width),
        'original-height': String(original.height),
        'original-bytes': String(uploaded.length),
      },
    })
  },
})

const decoders: Record<PictureFormat, (bytes: Uint8Array, progress: Progress) => Picture> = {
  png: decodePng,
  jpeg: decodeJpeg,
  bmp: decodeBmp,
}

const encoders: Record<PictureFormat, (picture: Picture, quality: number, progress: Progress) => Uint8Array> =
  {
    png: (picture, quality, progress) => encodePng(picture, levelOf(quality), progress),
    jpeg(picture, quality, progress) {
      layOverWhite(picture)
      return encodeJpeg(picture, Math.max(1, Math.round(100 * quality)), progress)
    },
    bmp(picture, _quality, progress) {
      layOverWhite(picture)
      return encodeBmp(picture, progress)
    },
  }

/** Compression level of a PNG. */
function levelOf(quality: number): number {
  return 9 - Math.round(9 * quality)
}

/** A body that will be rejected before any work counts as 0 pixels. */
function sizeOf({ head, bytes }: BodyFacts): { input: string; pixels: number; longerSide: number } {
  const input = formatOf(head)
  if (!input || bytes > limits.bytes) return { input: input ?? 'other', pixels: 0, longerSide: 1 }
  const header = readHeader(head)
  // A JPEG whose frame header lies beyond the head: a byte typically holds about five pixels.
  if (!header) return { input, pixels: bytes * 5, longerSide: Math.sqrt(bytes * 5) }
  const { width, height } = header
  const longerSide = Math.max(1, width, height)
  if (width < 1 || height < 1 || longerSide > limits.side || width * height > limits.pixels) {
    return { input, pixels: 0, longerSide: 1 }
  }
  return { input: header.progressive ? 'progressive jpeg' : input, pixels: width * height, longerSide }
}
