/**
 * Roles of workers. A scaler may assign each worker a role when it joins: a name, whether the role takes jobs, and
 * settings for the worker. The tiered system does (systems/tiered); the core interprets neither names nor settings.
 *
 * What stays in the core, because only the core knows it:
 * - A worker whose role takes no jobs has no slots, so that schedulers, capacity and deadlines leave it out.
 * - The role is repeated until the worker's reports name it, since messages get lost.
 * - A worker asks to leave; the scaler grants that, and the worker drains, or denies it.
 * - Jobs by the front they came in through: a draining worker ends only when its clients have their answers too.
 * - A worker in a role that leaves without having asked is reported to the scaler as lost, so that it can be replaced.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Event } from '../../model/event.ts'
import type { Core } from '../core.ts'
import type { AssignedRole, Roles } from '../scale/scaler.ts'
import type { WorkerRecord } from '../state.ts'
import { fleetView } from './fleet-view.ts'
import { drain } from './leaving.ts'

/** Assigns a role to a worker that has just joined and is not counted yet. */
export function assignRole(core: Core, roles: Roles, worker: string): AssignedRole {
  const assigned = roles.assign(fleetView(core))
  const { role, reason } = assigned
  core.actions.push({ type: 'assign', worker, role, settings: roles.settingsOf(role), reason })
  return assigned
}

/** The worker was disconnected, or the message with its role was lost. */
export function repeatRole(core: Core, { id, role }: WorkerRecord): void {
  const { roles } = core.scaler
  if (role === undefined || !roles) return
  const reason = { code: 'role-again', role }
  core.actions.push({ type: 'assign', worker: id, role, settings: roles.settingsOf(role), reason })
}

/** A worker in a role leaves without having asked. */
export function noteLeaving(core: Core, id: string): void {
  const worker = core.workers.get(id)
  if (worker?.role !== undefined && worker.state === 'ready') core.scaler.lost?.(id, core.now, worker.role)
}

/** Drains the worker, or tells it why it stays. */
export function requestLeave(core: Core, event: Extract<Event, { type: 'leave-requested' }>): void {
  const { roles } = core.scaler
  const worker = core.workers.get(event.worker)
  // One that is draining already has been allowed to leave.
  if (!roles || (worker && worker.state !== 'ready')) return
  const ms = event.ms >= 0 && event.ms < Infinity ? thousandths(event.ms) : 0
  const request = { worker: event.worker, role: worker?.role, why: event.why, ms }
  const verdict = roles.mayLeave(request, fleetView(core), core.now)
  if (!verdict) return
  if (verdict.granted) drain(core, event.worker, verdict.reason)
  else core.actions.push({ type: 'deny', worker: event.worker, reason: verdict.reason })
}
