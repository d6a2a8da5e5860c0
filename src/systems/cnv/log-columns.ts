/** Turns requests into the columns of a regression: logs of their numbers, their products, and their categories. */

import type { Reading } from '../../estimate/reading.ts'

export interface Columns {
  readonly count: number
  /** Writes one request's columns from `at` on. */
  fill(reading: Reading, out: Float64Array, at: number): void
}

/** The most common ones: a regression's time grows with the cube of its columns. */
const mostNumbers = 12
const mostMarks = 40

/** A number's log, as so many standard deviations from its mean. */
interface Scale {
  name: string
  mean: number
  deviation: number
}

/** What is learned from these requests. `degree` 1: the logs alone; 2: also each times each. */
export class Vocabulary {
  readonly #scales: Scale[]
  readonly #marks: Map<string, number>

  constructor(readings: readonly Reading[]) {
    this.#scales = mostCommon(readings, (reading) => reading.numbers.keys(), mostNumbers).map((name) =>
      scaleOf(name, readings),
    )
    // A mark that all requests have, or only one, tells nothing of the others.
    const marks = mostCommon(readings, marksOf, mostMarks, { least: 2, most: readings.length - 1 })
    this.#marks = new Map(marks.map((mark, i) => [mark, i]))
  }

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

/** Zero has none. */
function logOf(value: number | undefined): number | undefined {
  return value ? Math.log(Math.abs(value)) : undefined
}

/** Categories, and of numbers what their log does not tell: whether they are there, zero or negative. */
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
  // Of a number that never changed nobody knows what a change does.
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
