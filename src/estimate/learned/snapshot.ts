/** Serializes models as text. Invalid text is rejected. */

import type { Encoding } from './encoding.ts'
import { families, type Model } from './fit.ts'
import { rangesAt } from './kernel.ts'
import { columnCount } from './surface.ts'

/** Increase with every change of the model's fields. */
const version = 2

export function toText(model: Model): string {
  return JSON.stringify({ version, model }, (_, value: unknown) =>
    value instanceof Float64Array || value instanceof Int32Array ? [...value] : value,
  )
}

/** Undefined if the text is corrupt or of another version. */
export function fromText(text: string): Model | undefined {
  try {
    const { version: written, model } = JSON.parse(text) as { version: number; model: Plain<Model> }
    if (written !== version) return undefined
    const { posts } = model.shape
    const made: Model = {
      ...model,
      shape: {
        ...model.shape,
        settings: Float64Array.from(model.shape.settings),
        posts: { ...posts, numbers: Float64Array.from(posts.numbers), levels: Int32Array.from(posts.levels) },
      },
      weights: Float64Array.from(model.weights),
      around: Float64Array.from(model.around),
    }
    return isValid(made) ? made : undefined
  } catch {
    return undefined
  }
}

/** The type after a round trip through JSON. */
type Plain<T> = T extends Float64Array | Int32Array
  ? number[]
  : T extends object
    ? { [K in keyof T]: Plain<T[K]> }
    : T

function isValid({
  family,
  encoding,
  shape,
  level,
  scale,
  weights,
  around,
  rows,
  soughtOn,
  seen,
}: Model): boolean {
  const { posts, settings, heights } = shape
  const { wide, kinds, count } = posts
  const sizes: [ArrayLike<number>, number][] = [
    [settings, rangesAt + wide + kinds],
    [posts.numbers, count * wide],
    [posts.levels, count * kinds],
    [heights, kinds],
    [weights, columnCount(shape)],
    [around, 3 * (count + 1)],
    [seen.least, wide],
    [seen.most, wide],
    [[level, scale, rows, soughtOn, seen.lowest, seen.highest], 6],
  ]
  return (
    families.includes(family) &&
    isEncoding(encoding, wide, heights) &&
    sizes.every(([values, size]) => values.length === size && Array.from(values).every(Number.isFinite))
  )
}

function isEncoding({ numbers, categories }: Encoding, wide: number, heights: readonly number[]): boolean {
  return (
    numbers.length === wide &&
    numbers.every(
      ({ name, look, mean, deviation }) =>
        typeof name === 'string' &&
        ['log', 'log1p', 'raw'].includes(look) &&
        Number.isFinite(mean) &&
        deviation > 0,
    ) &&
    categories.every(
      ({ name, levels }, c) =>
        typeof name === 'string' && Array.isArray(levels) && levels.length === heights[c],
    )
  )
}
