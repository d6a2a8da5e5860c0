/** How much work lies before a job: sums by size of what is in the queue and in workers' hands, kept as jobs come and go. */

import type { JobRecord } from '../state.ts'

/** Sizes are gathered in so many groups an octave. */
const groupsPerOctave = 2
const groups = 160
/** Of jobs in workers' hands nobody looks up how much is left: half of what they need is a fair guess. */
export const partLeft = 0.5

export class Backlog {
  /** Whole units: sums of them are exact, in whatever order they were made. */
  readonly #sums = new Float64Array(groups)
  total = 0

  /** From now on this part of its work counts: all, some or, where it is elsewhere or over, nothing. */
  weigh(record: JobRecord, part: number): void {
    const weight = Math.round(record.job.work * part)
    const change = weight - record.weight
    if (change === 0) return
    record.weight = weight
    this.#sums[groupOf(record.job.work)]! += change
    this.total += change
  }

  /** The work of others that goes before the job: of those that are no larger, or, where sizes do not matter, of all. */
  before({ job: { work }, weight }: JobRecord, bySize: boolean): number {
    if (!bySize) return this.total - weight
    let sum = -weight
    const own = groupOf(work)
    for (let group = 0; group <= own; group++) sum += this.#sums[group]!
    return sum
  }
}

function groupOf(work: number): number {
  return Math.min(groups - 1, Math.floor(Math.log2(work + 1) * groupsPerOctave))
}
