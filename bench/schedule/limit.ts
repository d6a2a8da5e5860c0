/**
 * Lower bound of the mean response time of any policy: all cores form one pool, sizes are known, migration is free, and
 * the jobs with the least remaining work run. Computed exactly.
 */

import { Heap } from '../../src/lib/heap.ts'

export interface Arrived {
  atMs: number
  /** Running time alone on a core. */
  sizeMs: number
}

/** Calls `ended` for each job in order of completion. `jobs` must be in order of arrival. */
export function limit(
  jobs: Iterable<Arrived>,
  cores: number,
  ended: (number: number, sizeMs: number, responseMs: number) => void,
): void {
  const waiting = new Heap<Running>()
  const running = new RunningJobs()

  const finishUntil = (now: number) => {
    for (let first = running.first(); first && first.endsMs <= now; first = running.first()) {
      const { endsMs, number, atMs, sizeMs } = first
      running.dropFirst()
      ended(number, sizeMs, endsMs - atMs)
      const leftMs = waiting.topKey()
      const next = waiting.pop()
      if (next) running.add({ ...next, endsMs: endsMs + leftMs })
    }
  }

  let number = 0
  for (const { atMs, sizeMs } of jobs) {
    finishUntil(atMs)
    const job = { number: ++number, atMs, sizeMs, endsMs: atMs + sizeMs }
    const longest = running.last()
    if (running.size < cores) running.add(job)
    else if (longest!.endsMs > job.endsMs) {
      running.dropLast()
      waiting.push(longest!, longest!.endsMs - atMs, longest!.number)
      running.add(job)
    } else waiting.push(job, sizeMs, job.number)
  }
  finishUntil(Infinity)
}

interface Running extends Arrived {
  number: number
  /** End time if it keeps its core. */
  endsMs: number
}

/** Running jobs sorted by end time: at most one per core, and new jobs tend to end early, so insertion is quick. */
class RunningJobs {
  /** Latest end first, so that the next job to end is removed without moving others. */
  readonly #jobs: Running[] = []

  get size(): number {
    return this.#jobs.length
  }

  first(): Running | undefined {
    return this.#jobs.at(-1)
  }

  last(): Running | undefined {
    return this.#jobs[0]
  }

  dropFirst(): void {
    this.#jobs.pop()
  }

  dropLast(): void {
    this.#jobs.shift()
  }

  add(job: Running): void {
    let at = this.#jobs.push(job) - 1
    for (; at > 0 && this.#jobs[at - 1]!.endsMs < job.endsMs; at--) this.#jobs[at] = this.#jobs[at - 1]!
    this.#jobs[at] = job
  }
}
