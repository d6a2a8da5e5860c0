/** Brings the fleet to the size that the scaler wants. */

import type { Event } from '../../model/event.ts'
import type { Reason } from '../../model/reason.ts'
import type { Concern, Core } from '../core.ts'
import { dropWaiting } from '../jobs/dropping.ts'
import { ranMs } from '../jobs/mirror.ts'
import { speedOf } from '../jobs/times.ts'
import type { ScaleSteps } from '../scale/scaler.ts'
import type { Attempt } from '../state.ts'
import { setTimer } from '../timers.ts'
import { isAdopting } from './adopting.ts'
import { scalerCapacity } from './capacity.ts'
import { fleetView } from './fleet-view.ts'
import { launch } from './launching.ts'
import { drain, end } from './leaving.ts'
import { scaleIn } from './scale-in.ts'

export const scaling: Concern = {
  name: 'scaling',
  begins(core) {
    if (core.scaler.everyMs > 0) setTimer(core, { kind: 'scale', id: 'every' }, 0)
  },
  finished: noteFinished,
  afterEvent(core) {
    noteOccupancy(core)
    if (!core.rescale) return
    resize(core)
    noteOccupancy(core)
  },
  timers: {
    scale(core, id) {
      core.rescale = true
      if (id === 'every') setTimer(core, { kind: 'scale', id }, core.now + core.scaler.everyMs)
    },
  },
}

/** True: the scaler decides after this event. A scaler that decides at intervals has timers for that. */
export function changesFleet({ scaler }: Core, { type }: Event): boolean {
  if (type === 'tick') return scaler.everyMs === 0
  return type === 'joined' || type === 'lost' || type === 'launch-failed' || type === 'drain'
}

/** `work` counts at the announced rate. A job that arrives at an empty fleet, or in a burst, does not wait for the scaler's next interval. */
export function noteArrival(core: Core, work: number, unproven = false): void {
  const { scaler, fastest } = core
  if (core.ready + core.launches.size === 0) core.rescale = true
  const rate = core.capacity > 0 ? core.capacity / core.cores : fastest
  if (scaler.arrived?.(rate > 0 ? work / rate : 0, core.now, unproven)) core.rescale = true
}

/** Where jobs share cores, and in functions, the time on a core is not known, so it is derived from the work. */
function noteFinished({ scaler, discipline, now }: Core, attempt: Attempt, work: number): void {
  if (!scaler.finished || !(work >= 0 && work < Infinity)) return
  const { job, record, worker, inFunction } = attempt
  const rate = worker.workPerSecond * speedOf(job)
  const seenMs = discipline.bounded && !inFunction ? ranMs(attempt, now) : 0
  const seconds = seenMs > 0 ? seenMs / 1000 : work / rate
  const late = job.deadlineAt === undefined ? undefined : now > job.deadlineAt
  const expected = job.work / rate
  const unproven = job.unproven === true
  scaler.finished({ seconds, expected, unproven, hereMs: now - record.arrivedAt, late }, now)
}

function resize(core: Core): void {
  const { scaler, now } = core
  const decision = scaler.decide(fleetView(core), now)
  if (decision.kind === 'hold') return
  if (decision.kind === 'steps') return take(core, decision)
  const missing = decision.to - (core.ready - core.writtenOff.size) - core.launches.size
  if (missing < 0) {
    // What workers of an earlier brain run is known only once they have joined.
    if (core.recovery.isOver && !isAdopting(core)) scaleIn(core, -missing, decision.reason)
  } else launchSome(core, missing, decision.reason)
}

/** Workers that are written off count against the maximum, too. */
function launchSome(core: Core, count: number, reason: Reason): void {
  const { now, launchNotBefore, mostWorkers, ready, launches } = core
  if (now < launchNotBefore) return
  const most = Math.min(count, mostWorkers - ready - launches.size)
  for (let i = 0; i < most; i++) launch(core, reason)
}

function take(core: Core, steps: ScaleSteps): void {
  for (const { worker, reason } of steps.drain ?? []) drain(core, worker, reason)
  for (const { worker, reason } of steps.end ?? []) end(core, worker, reason)
  if (steps.drop) dropWaiting(core, steps.drop)
  if (steps.launch) launchSome(core, steps.launch.count, steps.launch.reason)
}

function noteOccupancy(core: Core): void {
  const { cores, busyCores } = scalerCapacity(core)
  core.occupancy.note(core.now, cores, busyCores, core.jobs.size)
}
