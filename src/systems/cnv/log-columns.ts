/** Requests as columns of a regression: logarithms of numbers, their products, and categories. */

import type { Reading } from '../../estimate/reading.ts'

export interface Columns {
  readonly count: number
  /** Writes one request's columns from `at` on. */
  fill(reading: Reading, out: Float64Array, at: number): void
}

/** Only the most common names count: the time of a regression grows with the cube of its columns. */
const mostNumbers = 12
const mostMarks = 40

/** Scales a number's logarithm to standard deviations from the mean. */
interface Scale {
  name: string
  mean: number
  deviation: number
}

/** The names found in these requests. */
export class Vocabulary {
  readonly #scales: Scale[]
  readonly #marks: Map<string, number>

  constructor(readings: readonly Reading[]) {
    this.#scales = mostCommon(readings, (reading) => reading.numbers.keys(), mostNumbers).map((name) =>
      scaleOf(name, readings),
    )
    // A mark that all requests have, or only one, does not distinguish the others.
    const marks = mostCommon(readings, marksOf, mostMarks, { least: 2, most: readings.length - 1 })
    this.#marks = new Map(marks.map((mark, i) => [mark, i]))
  }

  /** Degree 1: the logarithms alone; 2: also all products of two. */
  columns(degree: 1 | 2): Columns {
    const [scales, marks] = [this.#scales, this.#marks]
    const pairs = degree === 2 ? (scales.length * (scales.length + 1)) / 2 : 0
    const firstMark = 1 + scales.length + pairs
    return {
      count: firstMark + marks.size,
      fill(reading, out, at) {
        out.fill(0, at + firstMark, at + firstMark + marks.size)
        out[at] = 1
        let next = at + 1 + scales.length
        for (const [i, { name, mean, deviation }] of scales.entries()) {
          const log = logOf(reading.numbers.get(name))
          const z = log === undefined ? 0 : (log - mean) / deviation
          out[at + 1 + i] = z
          if (degree === 2) for (let j = 0; j <= i; j++) out[next++] = z * out[at + 1 + j]!
        }
        for (const mark of marksOf(reading)) {
          const column = marks.get(mark)
          if (column !== undefined) out[at + firstMark + column] = 1
        }
      },
    }
  }
}

/** Undefined for zero. */
function logOf(value: number | undefined): number | undefined {
  return value ? Math.log(Math.abs(value)) : undefined
}

/** Categories, and what the logarithm of a number leaves out: whether it is present, zero or negative. */
function* marksOf({ numbers, categories }: Reading): Generator<string> {
  for (const [name, text] of categories) yield `${name}=${text}`
  for (const [name, value] of numbers) yield value > 0 ? `${name}>0` : value < 0 ? `${name}<0` : `${name}=0`
}

function scaleOf(name: string, readings: readonly Reading[]): Scale {
  let count = 0
  let mean = 0
  let sum = 0
  for (const { numbers } of readings) {
    const log = logOf(numbers.get(name))
    if (log === undefined) continue
    const off = log - mean
    mean += off / ++count
    sum += off * (log - mean)
  }
  const deviation = Math.sqrt(sum / count)
  // The effect of a number that never changed is unknown.
  return { name, mean, deviation: deviation > 1e-9 ? deviation : Number.POSITIVE_INFINITY }
}

function mostCommon(
  readings: readonly Reading[],
  namesOf: (reading: Reading) => Iterable<string>,
  limit: number,
  { least, most } = { least: 1, most: readings.length },
): string[] {
  const counts = new Map<string, number>()
  for (const reading of readings) {
    for (const name of namesOf(reading)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count >= least && count <= most)
    .sort(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([name]) => name)
}
