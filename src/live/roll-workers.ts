/** Replaces workers one at a time: each by a spare one that is ready before the old one drains. */

import { setTimeout as delay } from 'node:timers/promises'
import type { RestartStep } from '../admin/restart.ts'
import type { SpareFleet } from './fleet/spares.ts'

export interface RollParts {
  fleet: Pick<SpareFleet, 'prepare' | 'release' | 'hasSpare' | 'drop' | 'list'>
  /** Time allowed for a worker to join. */
  bootMs: number
  /** Ready workers that this cluster started, with their launches. */
  workers(): { id: string; launch: string }[]
  /** Launches whose workers have not joined yet. */
  booting(): readonly string[]
  isThere(worker: string): boolean
  /** Drains a worker. A replacement, if the scaler wants one, is launched before this returns. */
  drain(worker: string): void
}

/** After this the next worker is replaced; one with long jobs finishes them in the meantime. */
const drainMs = 60_000
const pollMs = 20

/** `stale`: launches of the workers to replace. `nextName`: names for spare workers. */
export async function* rollWorkers(
  parts: RollParts,
  stale: ReadonlySet<string>,
  nextName: () => string,
): AsyncGenerator<RestartStep> {
  const { fleet } = parts
  const done = new Set<string>()
  const next = () => nextStale(parts, stale, done)
  for (let worker = await next(); worker !== undefined; worker = await next()) {
    done.add(worker)
    if (!fleet.hasSpare()) {
      await fleet.prepare(nextName(), parts.bootMs).catch((error: Error) => {
        throw new Error(`worker ${worker} stays, because its replacement failed: ${error.message}`)
      })
    }
    // It may have ended in the meantime; its replacement may have been given the spare worker.
    if (!parts.isThere(worker)) continue
    const before = new Set(parts.workers().map(({ id }) => id))
    parts.drain(worker)
    const unwanted = fleet.drop()
    const by = parts.workers().find(({ id }) => !before.has(id))?.id
    // Going on would drain one worker after another without replacements.
    if (by === undefined && !unwanted)
      throw new Error(`worker ${worker} drains, and its replacement has not joined`)
    const until = performance.now() + drainMs
    while (parts.isThere(worker) && performance.now() < until) await delay(pollMs, undefined, { ref: false })
    yield { worker, ...(by !== undefined && { by }) }
  }
  fleet.drop()
}

/** Waits for stale workers that still boot: they replace workers that were lost before the restart. */
async function nextStale(
  { workers, booting, bootMs }: RollParts,
  stale: ReadonlySet<string>,
  done: ReadonlySet<string>,
): Promise<string | undefined> {
  const until = performance.now() + bootMs
  for (;;) {
    const found = workers().find(({ id, launch }) => stale.has(launch) && !done.has(id))
    if (found) return found.id
    if (!booting().some((launch) => stale.has(launch)) || performance.now() > until) return undefined
    await delay(pollMs, undefined, { ref: false })
  }
}
