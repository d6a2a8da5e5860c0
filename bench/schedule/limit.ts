/**
 * The limit that no policy passes on average: all cores are one pool, sizes are known, moving a job is free, and at any
 * time the jobs with the least work left run. Exact.
 */

import { Heap } from '../../src/lib/heap.ts'

export interface Arrived {
  atMs: number
  /** Alone on a core. */
  sizeMs: number
}

/** Calls `ended` for each job, in the order of their ends. Jobs must come in the order of arrival. */
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
  /** If it keeps its core. */
  endsMs: number
}

/** What runs, by its end. There are as many as cores at most, and new ones end early: moving up the others is quick. */
class Foreground {
  /** Latest end first, so that the first to end is taken off without a move. */
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
