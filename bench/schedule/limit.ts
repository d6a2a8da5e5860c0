/**
 * The lower bound of the mean response time over all policies: all cores form one pool, sizes are known, migration is
 * free, and the jobs with the least remaining work run. Exact.
 */

import { Heap } from '../../src/lib/heap.ts'

export interface Arrived {
  atMs: number
  /** Time alone on a core. */
  sizeMs: number
}

/** Calls `ended` for each job, in order of completion. Jobs must come in order of arrival. */
export function limit(
  jobs: Iterable<Arrived>,
  cores: number,
  ended: (number: number, sizeMs: number, responseMs: number) => void,
): void {
  const waiting = new Heap<Running>()
  const running = new Foreground()

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
  /** Provided that it keeps its core. */
  endsMs: number
}

/** Running jobs by end time. An array suffices: there are at most as many as cores, and new ones end early. */
class Foreground {
  /** Latest end first, so that the next to end is popped. */
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
