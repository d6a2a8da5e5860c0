/** Checks of the detection of stalled attempts: no worker that always worked at its normal speed is drained for them. */

import type { Environment, Observer } from './environment.ts'
import { fail } from './invariant-account.ts'

export class StallInvariants implements Observer {
  /** Attempts that were ended because they stood still, and workers that were drained for that. */
  stalled = 0
  stallDrains = 0
  readonly #nodes: () => Environment['nodes']
  readonly #others: Observer

  /** Passes everything on to the other checks. */
  constructor(nodes: () => Environment['nodes'], others: Observer) {
    this.#nodes = nodes
    this.#others = others
  }

  arrived(...told: Parameters<NonNullable<Observer['arrived']>>): void {
    this.#others.arrived?.(...told)
  }

  observe(...told: Parameters<Observer['observe']>): void {
    for (const action of told[1]) {
      if (action.type === 'cancel' && action.reason.code === 'stalled') this.stalled++
      if (action.type !== 'drain' || action.reason.code !== 'stalled') continue
      this.stallDrains++
      if (this.#nodes().get(action.worker)?.worker.wasSlow === false)
        fail(`worker ${action.worker} was drained for jobs that stand still, but always worked at its speed`)
    }
    this.#others.observe(...told)
  }

  replaced(): void {
    this.#others.replaced?.()
  }

  answeredByFront(job: string): void {
    this.#others.answeredByFront?.(job)
  }
}
