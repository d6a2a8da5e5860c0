/** How much work is ahead of a job: sums by size over the queue and the workers' jobs, updated as jobs come and go. */

import { nominalWork } from '../jobs/times.ts'
import type { JobRecord } from '../state.ts'

/** Sizes are grouped, two groups per octave. */
const groupsPerOctave = 2
const groups = 160
/** Jobs on workers count with half their work: a fair guess of what is left of them. */
export const partLeft = 0.5

export class Backlog {
  /** Whole units: their sums are exact, in whatever order they are added. */
  readonly #sums = new Float64Array(groups)
  total = 0

  /** From now on this part of the job's work counts: all, some, or none of it. */
  weigh({ job, functions }: JobRecord, part: number): void {
    if (!functions) return
    const weight = Math.round(nominalWork(job) * part)
    const change = weight - functions.weight
    if (change === 0) return
    functions.weight = weight
    this.#sums[groupOf(job.work)]! += change
    this.total += change
  }

  /** The work of other jobs that go before this one: of all that are no larger or, if sizes do not matter, of all. */
  before({ job: { work }, functions }: JobRecord, bySize: boolean): number {
    const weight = functions?.weight ?? 0
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
