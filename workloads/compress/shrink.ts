/** Scales a picture down by averaging pixels. */

import type { Picture } from '../images/picture.ts'

/** Limits the longer side to `maxSide`; a smaller picture is returned unchanged. */
export function shrink(picture: Picture, maxSide: number): Picture {
  const { width, height } = picture
  const longer = Math.max(width, height)
  if (longer <= maxSide) return picture
  const scaled = (side: number) => Math.max(1, Math.round((side * maxSide) / longer))
  const small = { width: scaled(width), height: scaled(height) }
  const data = new Uint8Array(small.width * small.height * 4)
  for (let y = 0, to = 0; y < small.height; y++) {
    const top = Math.floor((y * height) / small.height)
    const bottom = Math.floor(((y + 1) * height) / small.height)
    for (let x = 0; x < small.width; x++, to += 4) {
      const left = Math.floor((x * width) / small.width)
      const right = Math.floor(((x + 1) * width) / small.width)
      average(picture, left, top, right, bottom, data, to)
    }
  }
  return { ...small, data }
}

/** Colours are weighted by alpha, so that invisible pixels do not tint edges. */
function average(
  { width, data }: Picture,
  left: number,
  top: number,
  right: number,
  bottom: number,
  target: Uint8Array,
  to: number,
): void {
  let red = 0
  let green = 0
  let blue = 0
  let alpha = 0
  for (let y = top; y < bottom; y++) {
    for (let from = (y * width + left) * 4; from < (y * width + right) * 4; from += 4) {
      const weight = data[from + 3]!
      red += data[from]! * weight
      green += data[from + 1]! * weight
      blue += data[from + 2]! * weight
      alpha += weight
    }
  }
  if (alpha === 0) return
  target[to] = Math.round(red / alpha)
  target[to + 1] = Math.round(green / alpha)
  target[to + 2] = Math.round(blue / alpha)
  target[to + 3] = Math.round(alpha / ((right - left) * (bottom - top)))
}
