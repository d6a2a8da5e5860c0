/** Replaces the workers and fronts that a cluster started, one after another, so that no client notices. */

import type { RestartStep, RestartWhat } from '../admin/restart.ts'
import { ConfigError } from '../lib/errors.ts'
import type { SpareFleet } from './fleet/spares.ts'

export interface RestartParts {
  epoch: number
  fleet: Pick<SpareFleet, 'prepare' | 'drop'>
  /** A worker that has not come up after so long does not. */
  bootMs: number
  /** Workers that take jobs, and that this cluster started. */
  workers(): string[]
  isThere(worker: string): boolean
  /** It is to go once it is empty; if another is wanted in its place, that is launched before this returns. */
  drain(worker: string): void
  rollFronts(): AsyncGenerator<RestartStep>
}

/** A worker that has long jobs goes on with them while the next one's turn comes. */
const drainMs = 60_000
const lookMs = 20

export function restarter(parts: RestartParts): (what: RestartWhat) => AsyncGenerator<RestartStep> {
  let count = 0
  let busy = false

  async function* workers(): AsyncGenerator<RestartStep> {
    for (const worker of parts.workers()) {
      if (!parts.isThere(worker)) continue
      await parts.fleet.prepare(`${parts.epoch}-r${++count}`, parts.bootMs)
      const before = new Set(parts.workers())
      parts.drain(worker)
      const unwanted = parts.fleet.drop()
      const by = parts.workers().find((each) => !before.has(each))
      // To go on would be to drain one after another with nobody in their places.
      if (by === undefined && !unwanted)
        throw new Error(
          `restart: worker ${worker} is going, and the one that was to take its place is not there`,
        )
      const until = performance.now() + drainMs
      while (parts.isThere(worker) && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, lookMs))
      yield { worker, ...(by !== undefined && { by }) }
    }
  }

  return async function* restart(what) {
    if (busy) throw new ConfigError('restart: one is under way already')
    busy = true
    try {
      if (what.workers) yield* workers()
      if (what.fronts) yield* parts.rollFronts()
    } finally {
      busy = false
    }
  }
}
