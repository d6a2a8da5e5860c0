/** Decodes JPEG, baseline and progressive, by jpeg-js, once it is known what that will take. */

import { decode } from 'jpeg-js'
import { Refusal } from 'plimsoll/workload'
import { type JpegFile, readJpegFile } from './jpeg-segments.ts'
import { upright } from './orientation.ts'
import { damaged, limits, type Picture } from './picture.ts'

/** What jpeg-js may take: it holds all blocks of 8 × 8 at once, and the picture three times over. */
const maxDecodingMb = 330
const bytesPerBlock = 630
const bytesPerPixel = 7

export function decodeJpeg(bytes: Uint8Array): Picture {
  const file = readJpegFile(bytes)
  const { width, height } = file
  const decodingMb = (blocksOf(file) * bytesPerBlock + width * height * bytesPerPixel) / 1e6
  if (decodingMb > maxDecodingMb) {
    throw new Refusal(
      413,
      `decoding this JPEG of ${width} × ${height} pixels would take ${Math.ceil(decodingMb)} MB: at most ${maxDecodingMb} MB are allowed, enough for 9 million pixels, or 14 million with halved colours`,
    )
  }
  return upright({ width, height, data: decoded(file) }, file.orientation)
}

function blocksOf({ width, height, components }: JpegFile): number {
  const across = Math.max(...components.map(({ horizontal }) => horizontal))
  const down = Math.max(...components.map(({ vertical }) => vertical))
  const units = Math.ceil(width / (8 * across)) * Math.ceil(height / (8 * down))
  return components.reduce((blocks, { horizontal, vertical }) => blocks + units * horizontal * vertical, 0)
}

function decoded(file: JpegFile): Uint8Array {
  const colorTransform = isTransformed(file)
  const options = {
    ...(colorTransform !== undefined && { colorTransform }),
    maxResolutionInMP: limits.pixels / 1e6,
    maxMemoryUsageInMB: 512,
  }
  try {
    return decode(file.bytes, { ...options, useTArray: true }).data
  } catch (error) {
    // Its own messages say what is wrong; other errors are what it runs into when tables are missing.
    const own = error instanceof Error && error.constructor === Error
    throw damaged('jpeg', own ? error.message : 'its tables do not fit its scans')
  }
}

/** Whether three components are luminance and chrominance, and not red, green and blue. */
function isTransformed({ components, adobeTransform }: JpegFile): boolean | undefined {
  if (components.length !== 3) return undefined
  if (adobeTransform !== undefined) return adobeTransform !== 0
  return String.fromCharCode(...components.map(({ id }) => id)) !== 'RGB'
}
