/** Requests of compress whose costs span three decades, between all formats and from fast to thorough. */

import { encodeBmp } from '../../workloads/images/bmp-encode.ts'
import { encodeJpeg } from '../../workloads/images/jpeg-encode.ts'
import { encodePng } from '../../workloads/images/png-encode.ts'
import { jpegFile } from '../../workloads/testing/jpeg-files.ts'
import { photo } from '../../workloads/testing/pictures.ts'
import type { MeterCase } from './case.ts'

const ignore = () => {}

/** A 4:3 picture with about this number of pixels. */
function uploaded(
  format: string,
  pixels: number,
  traits: Parameters<typeof photo>[2] = {},
): () => Uint8Array {
  const height = Math.round(Math.sqrt(pixels * 0.75))
  const width = Math.round(pixels / height)
  if (format === 'progressive') {
    const sampling: [number, number][] = [
      [2, 2],
      [1, 1],
      [1, 1],
    ]
    return () => jpegFile({ width, height, sampling, progressive: true })
  }
  return () => {
    const picture = photo(width, height, traits)
    if (format === 'bmp') return encodeBmp(picture, ignore)
    return format === 'jpeg' ? encodeJpeg(picture, 90, ignore) : encodePng(picture, 6, ignore)
  }
}

export const cases: MeterCase[] = [
  { params: { format: 'bmp' }, body: uploaded('bmp', 250_000) },
  { params: { format: 'bmp' }, body: uploaded('jpeg', 50_000) },
  { params: { format: 'jpeg', quality: 0.5 }, body: uploaded('png', 30_000) },
  { params: { format: 'png', quality: 1 }, body: uploaded('bmp', 200_000) },
  { params: { format: 'jpeg', quality: 0.7 }, body: uploaded('jpeg', 80_000) },
  { params: { format: 'png', quality: 0.7 }, body: uploaded('png', 60_000, { alpha: true }) },
  { params: { format: 'jpeg', quality: 0.9 }, body: uploaded('bmp', 400_000) },
  { params: { format: 'bmp' }, body: uploaded('progressive', 300_000) },
  { params: { format: 'png', quality: 0.2 }, body: uploaded('jpeg', 120_000) },
  { params: { format: 'jpeg', quality: 0.6, maxSide: 300 }, body: uploaded('png', 800_000) },
  { params: { format: 'bmp' }, body: uploaded('png', 1_000_000, { grey: true }) },
  { params: { format: 'jpeg', quality: 0.1 }, body: uploaded('jpeg', 700_000) },
  { params: { format: 'png', quality: 0.5 }, body: uploaded('bmp', 500_000) },
  { params: { format: 'bmp' }, body: uploaded('jpeg', 2_500_000) },
  { params: { format: 'jpeg', quality: 1 }, body: uploaded('png', 1_200_000) },
  { params: { format: 'png', quality: 0.9 }, body: uploaded('progressive', 800_000) },
  { params: { format: 'png', quality: 0.7 }, body: uploaded('png', 900_000, { grey: true, noise: 3 }) },
  { params: { format: 'jpeg', quality: 0.7 }, body: uploaded('bmp', 7_000_000) },
  { params: { format: 'jpeg', quality: 0.8 }, body: uploaded('jpeg', 4_000_000) },
  { params: { format: 'png', quality: 0.4 }, body: uploaded('jpeg', 2_000_000) },
  { params: { format: 'jpeg', quality: 0.3 }, body: uploaded('png', 5_000_000) },
  { params: { format: 'png', quality: 0.6 }, body: uploaded('png', 3_500_000, { alpha: true }) },
  { params: { format: 'jpeg', quality: 0.95 }, body: uploaded('jpeg', 14_000_000) },
]
