/** Replaces the workers and fronts that a cluster started, one at a time, without an error for any client. */

import type { RestartStep, RestartWhat } from '../admin/restart.ts'
import { ConfigError } from '../lib/errors.ts'
import type { SpareFleet } from './fleet/spares.ts'

export interface RestartParts {
  epoch: number
  fleet: Pick<SpareFleet, 'prepare' | 'drop'>
  /** Time allowed for a worker to join. */
  bootMs: number
  /** Ready workers that this cluster started. */
  workers(): string[]
  isThere(worker: string): boolean
  /** Drains a worker. A replacement, if the scaler wants one, is launched before this returns. */
  drain(worker: string): void
  rollFronts(): AsyncGenerator<RestartStep>
}

/** After this the restart goes on; a worker with long jobs finishes them in the meantime. */
const drainMs = 60_000
const pollMs = 20

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
      // Going on would drain one worker after another without replacements.
      if (by === undefined && !unwanted)
        throw new Error(`restart: worker ${worker} drains, and its replacement has not joined`)
      const until = performance.now() + drainMs
      while (parts.isThere(worker) && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      yield { worker, ...(by !== undefined && { by }) }
    }
  }

  return async function* restart(what) {
    if (busy) throw new ConfigError('restart: another restart is in progress')
    busy = true
    try {
      if (what.workers) yield* workers()
      if (what.fronts) yield* parts.rollFronts()
    } finally {
      busy = false
    }
  }
}
