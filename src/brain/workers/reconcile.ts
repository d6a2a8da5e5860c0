/**
 * Compares what the brain believes of the fleet with what the provider says is there, and mends the difference: what is
 * not there any more is given up, what nobody knows is ended. Lists may be late, incomplete or wrong, so no single one is
 * believed.
 */

import { ContractError } from '../../lib/errors.ts'
import { thousandths } from '../../lib/quantities.ts'
import type { Event } from '../../model/event.ts'
import type { Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { failLaunch } from './launches.ts'
import { drain, missed } from './workers.ts'

/** What is remembered from one list to the next. All times are those at which lists were asked for. */
export interface Listing {
  /** The newest list that counted; -1: none did. */
  askedAt: number
  /** Launches that are known, and since when no list has had them. */
  missing: Map<string, number>
  /** Launches of which several machines are listed, and since when. */
  doubled: Map<string, number>
  /** What the newest list had and nobody knows, and since when all lists have had it. */
  strangers: Map<string, number>
}

export function newListing(): Listing {
  return { askedAt: -1, missing: new Map(), doubled: new Map(), strangers: new Map() }
}

export function reconcileFleet(core: Core, event: Extract<Event, { type: 'listed' }>): void {
  const { listing } = core
  if (!Number.isFinite(event.askedAt))
    throw new ContractError(`listed: askedAt = ${event.askedAt}: must be a time`)
  const at = Math.min(event.askedAt, core.now)
  // It came twice, or a newer one overtook it.
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
}

type Listed = ReadonlyMap<string, number>
type Workers = ReadonlyMap<string, WorkerRecord>

/** Launches and workers that no list has had for longer than lists may be late. */
function giveUpMissing(core: Core, listed: Listed, workers: Workers): void {
  const { missing, askedAt } = core.listing
  const known = new Set([...core.launches.keys(), ...workers.keys()])
  for (const launch of missing.keys()) if (listed.has(launch) || !known.has(launch)) missing.delete(launch)
  for (const launch of known) {
    if (listed.has(launch)) continue
    const since = missing.get(launch)
    if (since === undefined) {
      // A list that was asked for before the launch says nothing of it.
      if (askedAt > (core.launches.get(launch)?.at ?? -1)) missing.set(launch, askedAt)
      continue
    }
    const missingMs = thousandths(askedAt - since)
    if (missingMs < core.limits.listMs) continue
    const reason = { code: 'not-listed', missingMs }
    const worker = workers.get(launch)
    if (!worker) failLaunch(core, launch, reason)
    // Who speaks is there, whatever the list says.
    else if (worker.heardAt <= since) missed(core, worker.id, reason)
    else continue
    missing.delete(launch)
  }
}

/** A list may be older than the end of what it names: what nobody knows is ended if lists go on to have it. */
function endStrangers(core: Core, listed: Listed, workers: Workers): void {
  const { strangers, askedAt } = core.listing
  const isKnown = (launch: string) => core.launches.has(launch) || workers.has(launch)
  for (const launch of strangers.keys()) if (!listed.has(launch) || isKnown(launch)) strangers.delete(launch)
  for (const launch of listed.keys()) {
    if (isKnown(launch)) continue
    const since = strangers.get(launch)
    const listedMs = since === undefined ? 0 : thousandths(askedAt - since)
    const over = since !== undefined && listedMs >= core.limits.listMs
    // If it is still there after as long again, it is ended once more.
    if (since === undefined || over) strangers.set(launch, askedAt)
    if (over) core.actions.push({ type: 'abandon', launch, reason: { code: 'stranger', listedMs } })
  }
}

/**
 * A launch that brought up two machines: the second is ended when it joins. One that never joins can only be ended
 * together with the first, so that is drained, and what came of the launch ended when it is empty.
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
