/** Seeded pictures such as people upload: photographs, drawings and screenshots of any size. */
import { stream } from '../../src/lib/random.ts'

export type PictureKind = 'photo' | 'drawing' | 'text'

export interface Recipe {
  kind: PictureKind
  width: number
  height: number
  seed: number
  grey: boolean
  alpha: boolean
  /** Amplitude of the noise of a photograph. */
  grain: number
}

export interface Painted {
  width: number
  height: number
  /** Red, green, blue, alpha. */
  data: Uint8Array
}

export function paint(recipe: Recipe): Painted {
  const { width, height, grey, alpha } = recipe
  const data = new Uint8Array(width * height * 4).fill(255)
  painters[recipe.kind](data, recipe)
  if (grey) for (let i = 0; i < data.length; i += 4) data[i + 1] = data[i + 2] = data[i]!
  if (alpha) for (let i = 0; i < width * height; i++) data[4 * i + 3] = ((i % width) * 255) / width
  return { width, height, data }
}

const painters: Record<PictureKind, (data: Uint8Array, recipe: Recipe) => void> = {
  photo: paintPhoto,
  drawing: paintDrawing,
  text: paintText,
}

/** Smooth light, some texture, and grain. */
function paintPhoto(data: Uint8Array, { width, height, seed, grain }: Recipe): void {
  const random = stream(seed, 'photo')
  const wave = (periods: number) => (periods * 2 * Math.PI * (random.next() - 0.5)) / Math.max(width, height)
  const waves = [0, 1, 2].map(() =>
    [2, 6, 40].map((periods) => [wave(periods), wave(periods), 7 * random.next()]),
  )
  let noise = seed | 1
  for (let i = 0; i < width * height; i++) {
    const x = i % width
    const y = Math.floor(i / width)
    for (let channel = 0; channel < 3; channel++) {
      const [broad, middle, fine] = waves[channel] as [number[], number[], number[]]
      noise = (Math.imul(noise, 1664525) + 1013904223) | 0
      data[4 * i + channel] = Math.max(
        0,
        Math.min(
          255,
          128 +
            70 * sine(broad, x, y) +
            30 * sine(middle, x, y) +
            12 * sine(fine, x, y) +
            (grain * noise) / 2 ** 31,
        ),
      )
    }
  }
}

function sine(wave: number[], x: number, y: number): number {
  return Math.sin(wave[0]! * x + wave[1]! * y + wave[2]!)
}

/** Overlapping flat shapes. */
function paintDrawing(data: Uint8Array, { width, height, seed }: Recipe): void {
  const random = stream(seed, 'drawing')
  const shapes = 5 + random.below(25)
  for (let shape = 0; shape < shapes; shape++) {
    const colour = [random.below(256), random.below(256), random.below(256)]
    const round = random.next() < 0.5
    const radiusX = 1 + (width / 4) * random.next()
    const radiusY = round ? radiusX : 1 + (height / 4) * random.next()
    const [centreX, centreY] = [random.below(width), random.below(height)]
    for (let y = Math.max(0, Math.ceil(centreY - radiusY)); y < Math.min(height, centreY + radiusY); y++) {
      const part = round ? Math.sqrt(Math.max(0, 1 - ((y - centreY) / radiusY) ** 2)) : 1
      const last = Math.min(width - 1, Math.floor(centreX + radiusX * part))
      for (let x = Math.max(0, Math.ceil(centreX - radiusX * part)); x <= last; x++) {
        data.set(colour, 4 * (y * width + x))
      }
    }
  }
}

/** Lines of dark marks on white, as in a scan or a screenshot. */
function paintText(data: Uint8Array, { width, height, seed }: Recipe): void {
  const random = stream(seed, 'text')
  for (let top = 4; top + 9 < height; top += 14) {
    const length = width * (0.4 + 0.55 * random.next())
    for (let left = 6; left + 6 < length; left += random.next() < 0.17 ? 12 : 7) {
      for (let mark = 0; mark < 14; mark++) {
        const at = 4 * ((top + random.below(9)) * width + left + random.below(6))
        data.fill(random.below(70), at, at + 3)
      }
    }
  }
}
