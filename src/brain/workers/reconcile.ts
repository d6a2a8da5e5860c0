/**
 * Compares the fleet that the brain knows with the launches that the provider lists: those missing from lists are given
 * up, and unknown ones are ended. Lists may be late, incomplete or wrong, so no single list decides.
 */

import { ContractError } from '../../lib/errors.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { Event } from '../../model/event.ts'
import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { failLaunch } from './launching.ts'
import { drain, reportLost } from './leaving.ts'

export function reconcileFleet(core: Core, event: Extract<Event, { type: 'listed' }>): void {
  const { listing } = core
  if (!Number.isFinite(event.askedAt))
    throw new ContractError(`listed: askedAt = ${event.askedAt}: must be a time`)
  const at = Math.min(event.askedAt, core.now)
  // A repeated list, or one that a newer list has overtaken.
  if (at <= listing.askedAt) return
  listing.askedAt = at
  const listed = new Map<string, number>()
  for (const launch of event.launches) listed.set(launch, (listed.get(launch) ?? 0) + 1)
  const workers = new Map<string, WorkerRecord>()
  for (const worker of core.workers.values())
    if (worker.launch !== undefined) workers.set(worker.launch, worker)
  giveUpMissing(core, listed, workers)
  endStrangers(core, listed, workers)
  drainDoubled(core, listed, workers)
  // Most lists only confirm what is known.
  if (core.actions.length > 0) core.rescale = true
}

type Listed = ReadonlyMap<string, number>
type Workers = ReadonlyMap<string, WorkerRecord>

/** Gives up launches and workers that lists have missed for longer than lists may be late. */
function giveUpMissing(core: Core, listed: Listed, workers: Workers): void {
  const { missing, askedAt } = core.listing
  const known = new Set([...core.launches.keys(), ...workers.keys()])
  for (const launch of missing.keys()) if (listed.has(launch) || !known.has(launch)) missing.delete(launch)
  for (const launch of known) {
    if (listed.has(launch)) continue
    const since = missing.get(launch)
    if (since === undefined) {
      // A list that was asked for before the launch cannot name it.
      if (askedAt > (core.launches.get(launch)?.at ?? -1)) missing.set(launch, askedAt)
      continue
    }
    const missingMs = thousandths(askedAt - since)
    if (missingMs < core.limits.listMs) continue
    const reason = { code: 'not-listed', missingMs }
    const worker = workers.get(launch)
    if (!worker) failLaunch(core, launch, reason)
    // A worker that has reported since then exists, whatever the lists say.
    else if (worker.lastSeenAt <= since) reportLost(core, worker.id, reason)
    else continue
    missing.delete(launch)
  }
}

/** Ends unknown launches if lists keep naming them: a single list may be older than the end of what it names. */
function endStrangers(core: Core, listed: Listed, workers: Workers): void {
  const { strangers, askedAt } = core.listing
  const isKnown = (launch: string) => core.launches.has(launch) || workers.has(launch)
  for (const launch of strangers.keys()) if (!listed.has(launch) || isKnown(launch)) strangers.delete(launch)
  for (const launch of listed.keys()) {
    if (isKnown(launch)) continue
    const since = strangers.get(launch)
    const listedMs = since === undefined ? 0 : thousandths(askedAt - since)
    const over = since !== undefined && listedMs >= core.limits.listMs
    // If lists still name it after as long again, it is ended once more.
    if (since === undefined || over) strangers.set(launch, askedAt)
    if (over) core.actions.push({ type: 'abandon', launch, reason: { code: 'stranger', listedMs } })
  }
}

/**
 * Of a launch that created two machines, the second is ended when it joins. If it never joins, it can only be ended
 * together with the first. So the first is drained, and the launch ended when it is empty.
 */
function drainDoubled(core: Core, listed: Listed, workers: Workers): void {
  const { doubled, askedAt } = core.listing
  for (const launch of doubled.keys()) if ((listed.get(launch) ?? 0) < 2) doubled.delete(launch)
  for (const [launch, machines] of listed) {
    const worker = workers.get(launch)
    if (machines < 2 || worker?.state !== 'ready') continue
    const since = doubled.get(launch) ?? askedAt
    doubled.set(launch, since)
    if (askedAt - since < core.limits.listMs) continue
    doubled.delete(launch)
    drain(core, worker.id, { code: 'doubled', machines })
  }
}
