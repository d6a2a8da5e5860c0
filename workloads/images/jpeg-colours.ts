/** Combines the components of a JPEG into pixels. */

import type { Frame } from './jpeg-frame.ts'

/** Samples of one component, possibly at lower resolution. */
export interface SamplePlane {
  samples: Uint8Array
  /** Samples per row. */
  width: number
  /** Samples per pixel, at most 1. */
  scaleX: number
  scaleY: number
}

export function paintPixels(
  frame: Frame,
  planes: readonly SamplePlane[],
  adobeTransform: number | undefined,
): Uint8Array {
  const { width, height } = frame
  // A clamped array rounds and clamps on assignment.
  const data = new Uint8ClampedArray(width * height * 4)
  const rows = planes.map(() => new Uint8Array(width))
  const transformed = isTransformed(frame, adobeTransform)
  for (let y = 0; y < height; y++) {
    planes.forEach((plane, i) => {
      stretch(plane, y, rows[i]!)
    })
    const target = data.subarray(y * width * 4, (y + 1) * width * 4)
    if (rows.length === 1) paintGrey(rows[0]!, target)
    else {
      if (transformed) paintTransformed(rows[0]!, rows[1]!, rows[2]!, target)
      else paintPlain(rows[0]!, rows[1]!, rows[2]!, target)
      if (rows.length === 4) applyBlack(rows[3]!, target, transformed)
    }
  }
  return new Uint8Array(data.buffer)
}

/** Whether the first three components are luminance and chrominance rather than RGB. */
function isTransformed({ components }: Frame, adobeTransform: number | undefined): boolean {
  if (adobeTransform !== undefined) return adobeTransform !== 0
  return String.fromCharCode(...components.map(({ id }) => id)) !== 'RGB'
}

/** Writes one sample per pixel of row `y`. */
function stretch({ samples, width, scaleX, scaleY }: SamplePlane, y: number, row: Uint8Array): void {
  const start = Math.floor(y * scaleY) * width
  if (scaleX === 1) for (let x = 0; x < row.length; x++) row[x] = samples[start + x]!
  else for (let x = 0; x < row.length; x++) row[x] = samples[start + ((x * scaleX) | 0)]!
}

function paintGrey(grey: Uint8Array, target: Uint8ClampedArray): void {
  for (let x = 0, to = 0; x < grey.length; x++, to += 4) {
    const level = grey[x]!
    target[to] = level
    target[to + 1] = level
    target[to + 2] = level
    target[to + 3] = 255
  }
}

function paintPlain(red: Uint8Array, green: Uint8Array, blue: Uint8Array, target: Uint8ClampedArray): void {
  for (let x = 0, to = 0; x < red.length; x++, to += 4) {
    target[to] = red[x]!
    target[to + 1] = green[x]!
    target[to + 2] = blue[x]!
    target[to + 3] = 255
  }
}

function paintTransformed(
  luminance: Uint8Array,
  blueness: Uint8Array,
  redness: Uint8Array,
  target: Uint8ClampedArray,
): void {
  for (let x = 0, to = 0; x < luminance.length; x++, to += 4) {
    const light = luminance[x]!
    const blue = blueness[x]! - 128
    const red = redness[x]! - 128
    target[to] = light + 1.402 * red
    target[to + 1] = light - 0.344136 * blue - 0.714136 * red
    target[to + 2] = light + 1.772 * blue
    target[to + 3] = 255
  }
}

/** Adobe stores CMYK inverted; transformed inks are inverted once more. */
function applyBlack(black: Uint8Array, target: Uint8ClampedArray, inverted: boolean): void {
  for (let x = 0, to = 0; x < black.length; x++, to += 4) {
    const share = black[x]! / 255
    for (let channel = to; channel < to + 3; channel++) {
      const ink = target[channel]!
      target[channel] = (inverted ? 255 - ink : ink) * share
    }
  }
}
