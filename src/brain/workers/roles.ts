/** Roles of nodes where there are tiers: who becomes what, what comes in through whom, and who may end. */

import { thousandths } from '../../lib/quantities.ts'
import type { Event } from '../../model/event.ts'
import type { Role } from '../../model/worker.ts'
import type { Core } from '../core.ts'
import type { Tiers } from '../scale/scaler.ts'
import type { WorkerRecord } from '../state.ts'
import { fleetView } from './fleet-view.ts'
import { drain } from './leaving.ts'

/** The process of the brain: a front that is no worker, was never launched and never ends. */
export const coordinator = 'coordinator'

/** A node that has just joined, and is not counted yet, is told what it is for. */
export function giveRole(core: Core, tiers: Tiers, worker: string): Role {
  const { role, reason } = tiers.roleFor(fleetView(core))
  core.actions.push({ type: 'role', worker, role, ending: tiers.ending[role], reason })
  return role
}

/** It was away, or what it was told got lost. */
export function remindOfRole(core: Core, { id, role }: WorkerRecord): void {
  const { tiers } = core.scaler
  if (!role || !tiers) return
  core.actions.push({
    ...{ type: 'role', worker: id, role, ending: tiers.ending[role] },
    reason: { code: 'role-again', role },
  })
}

/** A node goes that did not ask whether it may: it will be missed as one that is lost. */
export function noteLeaving(core: Core, worker: string): void {
  const node = core.workers.get(worker)
  if (node?.role && node.state === 'ready') core.scaler.lost?.(worker, core.now, node.role)
}

/** A node asks to be ended: it drains, or is told why it stays. */
export function askToEnd(core: Core, event: Extract<Event, { type: 'would-end' }>): void {
  const { tiers } = core.scaler
  const node = core.workers.get(event.worker)
  const role = event.worker === coordinator ? coordinator : node?.role
  // It has been allowed to already, or is gone, or nodes have no roles here.
  if (!tiers || !role || (node && node.state !== 'ready')) return
  const refused = tiers.refuses(role, fleetView(core), core.now)
  if (refused) core.actions.push({ type: 'stay', worker: event.worker, reason: refused })
  else {
    const code = event.why === 'slow' ? 'asked-slow' : 'asked-idle'
    const ms = event.ms >= 0 && event.ms < Infinity ? thousandths(event.ms) : 0
    drain(core, event.worker, { code, ms })
  }
}
