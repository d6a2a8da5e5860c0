/**
 * The brain: every decision of the cluster, as a pure state machine. It does no input or output, reads no clock and
 * draws only the randomness that it is given, so the live cluster and the simulator run the same one.
 */

import { type Random, stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { BrainView } from '../model/view.ts'
import { notePause } from './after-pause.ts'
import { concerns } from './concerns.ts'
import { type Core, newCore } from './core.ts'
import type { OverflowOptions } from './functions/overflow-spec.ts'
import { newOverflow } from './functions/overflow-state.ts'
import { checkFair, Shares } from './jobs/client-shares.ts'
import { noteDelegated } from './jobs/delegated.ts'
import { canAccept } from './jobs/eligible.ts'
import { answering, arrive, cancel, fail, finish, permit, progress } from './jobs/jobs.ts'
import { type RateLimit, RateLimits } from './jobs/rate-limit.ts'
import { newRetries } from './jobs/retry-budget.ts'
import { nominalWork } from './jobs/times.ts'
import { type BrainLimits, brainDefaults } from './limits.ts'
import { takeOver } from './recovery.ts'
import type { Billing } from './scale/billing.ts'
import type { Scaler } from './scale/scaler.ts'
import type { PlacingSpec, SchedulerFactory } from './schedule/scheduler.ts'
import { fireDueTimers } from './timers.ts'
import { viewOf } from './view.ts'
import { adoptLaunches } from './workers/adopting.ts'
import { noteCpu } from './workers/cpu.ts'
import { fleetFacts } from './workers/fleet-view.ts'
import { join, report } from './workers/joining.ts'
import { failLaunch } from './workers/launching.ts'
import { drain, hold, noteDisconnected, reportLost } from './workers/leaving.ts'
import { notePong } from './workers/pings.ts'
import { reconcileFleet } from './workers/reconcile.ts'
import { noteLeaving, requestLeave } from './workers/roles.ts'
import { changesFleet, noteArrival } from './workers/scaling.ts'

/** Reasons for drains, by who asked. */
const drainCodes = { operator: 'operator', worker: 'leaving', restart: 'replaced' } as const

export interface BrainParts {
  scheduler: SchedulerFactory
  scaler: Scaler
  /** Options of the scheduler. */
  placing?: PlacingSpec
  /** Maximum number of workers, for schedulers that launch some. Default: none. */
  mostWorkers?: number
  /** How workers are billed. Default: by the millisecond. */
  billing?: Billing
  discipline: DisciplineName
  /** Grows with every start of a brain over the same workers; tokens of earlier brains are superseded. */
  epoch?: number
  seed?: number
  limits?: Partial<BrainLimits>
  /** Of each client. Default: none. */
  rateLimit?: RateLimit
  /** True: clients that have had more than their share of the work go after the others. */
  fair?: boolean
  /** Functions that run jobs which would queue. Default: none. */
  overflow?: OverflowOptions
}

export interface Brain {
  /** True: the scaler assigns a role to each worker. */
  readonly assignsRoles: boolean
  /** Number of queued jobs. */
  readonly queued: number
  /** Takes one event and returns the actions that follow. Time never goes backwards: an earlier `now` is ignored. */
  handle(event: Event, now: number): Action[]
  /** For people, tests and checks. */
  view(): BrainView
}

export function createBrain(parts: BrainParts): Brain {
  const core = coreOf(parts)
  for (const begins of core.hooks.begins) begins(core)
  return {
    assignsRoles: parts.scaler.roles !== undefined,
    get queued() {
      return core.queue.size
    },
    handle(event, now) {
      if (now > core.now) core.now = now
      core.actions = []
      core.rescale = changesFleet(core, event)
      apply(core, event)
      for (const afterEvent of core.hooks.afterEvent) afterEvent(core)
      askForWakeUp(core, event)
      return core.actions
    },
    view: () => viewOf(core),
  }
}

function coreOf(parts: BrainParts): Core {
  const random: Random = stream(parts.seed ?? 1, 'brain')
  const discipline = disciplines[parts.discipline]
  checkFair(parts.fair ?? false, discipline.ranks, discipline.name)
  const limits = { ...brainDefaults, ...parts.limits }
  const core: Core = newCore(
    {
      epoch: parts.epoch ?? 1,
      limits,
      retries: limits.retryPauses ? newRetries(limits.retryPauses, parts.seed ?? 1) : undefined,
      discipline,
      scaler: parts.scaler,
      billing: parts.billing ?? {},
      mostWorkers: parts.mostWorkers ?? Infinity,
      shares: new Shares(parts.fair),
      overflow: parts.overflow && newOverflow(parts.overflow),
      rateLimits: parts.rateLimit && new RateLimits(parts.rateLimit),
      scheduler: parts.scheduler({
        accepts: (worker, record) => canAccept(core, worker, record),
        random,
        spec: parts.placing ?? {},
        fleet: fleetFacts(() => core),
      }),
    },
    concerns,
  )
  return core
}

function apply(core: Core, event: Event): void {
  switch (event.type) {
    case 'arrived':
      arrive(core, event.job, event.pressure, event.on)
      return noteArrival(core, nominalWork(event.job), event.job.unproven)
    case 'cancelled':
      return cancel(core, event.job)
    case 'ready':
      return permit(core, event)
    case 'progressed':
      return progress(core, event)
    case 'answering':
      return answering(core, event)
    case 'finished':
      return finish(core, event)
    case 'failed':
      return fail(core, event)
    case 'joined':
      return join(core, event)
    case 'reported':
      return report(core, event)
    case 'cpu-read':
      return noteCpu(core, event)
    case 'pong':
      return notePong(core, event)
    case 'lost':
      return reportLost(core, event.worker, { code: 'lost', message: event.message ?? '' }, event.certain)
    case 'disconnected':
      return noteDisconnected(core, event.worker)
    case 'launch-failed':
      return failLaunch(core, event.launch, { code: 'launch-failed', message: event.message ?? '' })
    case 'adopted':
      return adoptLaunches(core, event)
    case 'took-over':
      return takeOver(core, event.epoch)
    case 'listed':
      return reconcileFleet(core, event)
    case 'leave-requested':
      return requestLeave(core, event)
    case 'drain':
      noteLeaving(core, event.worker)
      return drain(core, event.worker, { code: drainCodes[event.by ?? 'operator'] })
    case 'delegated':
      return noteDelegated(core, event)
    case 'held':
      return hold(core, event)
    case 'tick':
      return fireDueTimers(core)
    case 'paused':
      return notePause(core, event.ms)
  }
}

/** Asks for a tick when the next timer is due, unless that has been asked for. */
function askForWakeUp(core: Core, { type }: Event): void {
  const next = core.timers.topKey()
  // A tick uses up the wake-up that was asked for, even if it comes a little early, as real timers do.
  if (next === core.wakeAt && type !== 'tick') return
  core.wakeAt = next
  if (next < Infinity) core.actions.push({ type: 'wake', at: next })
}
