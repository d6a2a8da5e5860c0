/**
 * Knows at which workers requests may be in progress that fronts sent there without asking, so that a worker that drains
 * waits for them: from the order that names a worker until no order names it and all fronts say that they have none left.
 */

import type { Event } from '../../model/event.ts'
import type { DirectOrder, DirectStanding } from '../../wire/direct.ts'

/** The id of the front in this process; no other has it. */
export const insideFront = ''

export interface HeldWorkersParts {
  /** The fronts that have joined. */
  joined(): readonly string[]
  tell(event: Event): void
}

export class HeldWorkers {
  readonly #parts: HeldWorkersParts
  readonly #held = new Set<string>()
  readonly #standings = new Map<string, DirectStanding>()
  #order: Pick<DirectOrder, 'seq' | 'workers'> = { seq: 0, workers: [] }

  constructor(parts: HeldWorkersParts) {
    this.#parts = parts
  }

  /** Fronts are about to receive this order. */
  ordered(order: Pick<DirectOrder, 'seq' | 'workers'>): void {
    this.#order = order
    for (const { id } of order.workers) this.#hold(id)
    this.#releaseUnused()
  }

  /** Undefined: the front is gone. */
  standing(front: string, standing: DirectStanding | undefined): void {
    if (standing) this.#standings.set(front, standing)
    else this.#standings.delete(front)
    // A brain that was started again learns so what its fronts still do.
    for (const worker of standing?.workers ?? []) this.#hold(worker)
    this.#releaseUnused()
  }

  #hold(worker: string): void {
    if (this.#held.has(worker)) return
    this.#held.add(worker)
    this.#parts.tell({ type: 'held', worker, held: true })
  }

  #releaseUnused(): void {
    for (const worker of [...this.#held]) {
      if (this.#mayBeUsed(worker)) continue
      this.#held.delete(worker)
      this.#parts.tell({ type: 'held', worker, held: false })
    }
  }

  #mayBeUsed(worker: string): boolean {
    if (this.#order.workers.some(({ id }) => id === worker)) return true
    return this.#parts.joined().some((front) => {
      const standing = this.#standings.get(front)
      return !standing || standing.seq < this.#order.seq || standing.workers.includes(worker)
    })
  }
}
