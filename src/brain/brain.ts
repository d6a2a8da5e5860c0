/**
 * The brain: every decision of the cluster, as a pure state machine. It does no input or output, reads no
 * clock and draws no randomness but what it is given, so the live cluster and the simulator run the same one.
 */

import { type Random, stream } from '../lib/random.ts'
import type { Action } from '../model/action.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { BrainView } from '../model/view.ts'
import { type BrainLimits, brainDefaults, type Core, newCore, setTimer } from './core.ts'
import { giveUp, lookAgain, thinOver } from './functions/overflow.ts'
import type { OverflowOptions } from './functions/overflow-spec.ts'
import { newOverflow } from './functions/overflow-state.ts'
import { checkAnswer } from './jobs/answer-limit.ts'
import { checkSlack } from './jobs/deadlines.ts'
import { canAccept } from './jobs/eligible.ts'
import { answering, arrive, cancel, fail, finish, passDeadline, permit, progress } from './jobs/jobs.ts'
import { losePatience, refuseWaiting } from './jobs/patience.ts'
import { type RateLimit, RateLimits } from './jobs/rate-limit.ts'
import { checkFair, checkShares, Shares } from './jobs/shares.ts'
import { checkAge, giveTurns } from './jobs/turns.ts'
import type { Billing } from './scale/billing.ts'
import type { Scaler } from './scale/scaler.ts'
import type { PlacingSpec, SchedulerFactory } from './schedule/scheduler.ts'
import { viewOf } from './view.ts'
import { planPolls, pollAll } from './workers/cpu.ts'
import { fleetFacts } from './workers/fleet-view.ts'
import { failLaunch, giveUpLaunch, resize } from './workers/launches.ts'
import { reconcileFleet } from './workers/reconcile.ts'
import { noteLeaving, requestLeave } from './workers/roles.ts'
import { checkSilence } from './workers/silence.ts'
import { drain, endDrained, join, missed, report } from './workers/workers.ts'

export interface BrainParts {
  scheduler: SchedulerFactory
  scaler: Scaler
  /** Constants of the scheduler. Default: its own. */
  placing?: PlacingSpec
  /** The most workers that there may be, for schedulers that launch some. Default: no bound. */
  mostWorkers?: number
  /** How workers are paid for. Default: by the moment. */
  billing?: Billing
  discipline: DisciplineName
  /** Grows with every start of a brain over the same workers; tokens of an older one are superseded. */
  epoch?: number
  seed?: number
  limits?: Partial<BrainLimits>
  /** What each client may ask for. Default: anything. */
  rateLimit?: RateLimit
  /** True: clients that have had more than their share of the work go after the others. */
  fair?: boolean
  /** Functions that take what would wait. Default: there are none. */
  overflow?: OverflowOptions
}

export interface Brain {
  /** True: the scaler assigns a role to each worker. */
  readonly assignsRoles: boolean
  /** One event in, and what is to be done about it. Time that goes backwards stands still until it is made up. */
  handle(event: Event, now: number): Action[]
  /** What the brain believes, for people, tests and checks. */
  view(): BrainView
}

export function createBrain(parts: BrainParts): Brain {
  const random: Random = stream(parts.seed ?? 1, 'brain')
  const limits = { ...brainDefaults, ...parts.limits }
  const discipline = disciplines[parts.discipline]
  checkFair(parts.fair ?? false, discipline.ranks, discipline.name)
  const core: Core = newCore({
    epoch: parts.epoch ?? 1,
    limits,
    discipline,
    scaler: parts.scaler,
    billing: parts.billing ?? {},
    mostWorkers: parts.mostWorkers ?? Infinity,
    shares: parts.fair ? new Shares() : undefined,
    overflow: parts.overflow && newOverflow(parts.overflow),
    rateLimits: parts.rateLimit && new RateLimits(parts.rateLimit),
    scheduler: parts.scheduler({
      accepts: (worker, record) => canAccept(core, worker, record),
      random,
      spec: parts.placing ?? {},
      fleet: fleetFacts(() => core),
    }),
  })
  // Who is looked at and decides at the same time is looked at first.
  planPolls(core)
  if (parts.scaler.everyMs > 0) setTimer(core, { kind: 'scale', id: 'every' }, 0)

  return {
    assignsRoles: parts.scaler.roles !== undefined,
    handle(event, now) {
      if (now > core.now) core.now = now
      core.actions = []
      core.rescale = changesFleet(event, parts.scaler.everyMs)
      apply(core, event)
      // Most lists say what is known.
      if (event.type === 'listed' && core.actions.length > 0) core.rescale = true
      noteOccupancy(core)
      if (core.rescale) {
        resize(core)
        noteOccupancy(core)
      }
      if (core.draining.size > 0) endDrained(core)
      if (core.overflow?.freed) thinOver(core)
      const next = core.timers.topKey()
      // A tick uses up the wake-up that was asked for, also when it comes a little early, as real timers do.
      if (next !== core.wakeAt || event.type === 'tick') {
        core.wakeAt = next
        if (next < Infinity) core.actions.push({ type: 'wake', at: next })
      }
      return core.actions
    },
    view: () => viewOf(core),
  }
}

function noteOccupancy(core: Core): void {
  core.occupancy.note(core.now, core.cores, core.busyCores, core.jobs.size)
}

function apply(core: Core, event: Event): void {
  switch (event.type) {
    case 'arrived':
      arrive(core, event.job)
      return noteArrival(core, event.job)
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
    case 'lost':
      return missed(core, event.worker, { code: 'lost', message: event.message ?? '' })
    case 'launch-failed':
      return failLaunch(core, event.launch, { code: 'launch-failed', message: event.message ?? '' })
    case 'listed':
      return reconcileFleet(core, event)
    case 'leave-requested':
      return requestLeave(core, event)
    case 'drain':
      noteLeaving(core, event.worker)
      return drain(core, event.worker, { code: event.by === 'worker' ? 'leaving' : 'operator' })
    case 'tick':
      return ring(core)
  }
}

/** Whoever comes where nobody is, or is too many at once, does not wait until the policy looks again. */
function noteArrival(core: Core, { work }: Job): void {
  const { scaler, fastest } = core
  if (core.ready + core.launches.size === 0) core.rescale = true
  const rate = core.capacity > 0 ? core.capacity / core.cores : fastest
  if (scaler.arrived?.(rate > 0 ? work / rate : 0, core.now)) core.rescale = true
}

/** Does what is due. */
function ring(core: Core): void {
  while (core.timers.topKey() <= core.now) {
    const { kind, id } = core.timers.pop()!
    if (kind === 'deadline') passDeadline(core, id)
    else if (kind === 'slack') checkSlack(core, id)
    else if (kind === 'patience') losePatience(core, id)
    else if (kind === 'turns') giveTurns(core)
    else if (kind === 'share') checkShares(core)
    else if (kind === 'age') checkAge(core, id)
    else if (kind === 'waited') refuseWaiting(core, id)
    else if (kind === 'away') giveUp(core, id)
    else if (kind === 'answer') checkAnswer(core, id)
    else if (kind === 'overflow') lookAgain(core)
    else if (kind === 'silence') checkSilence(core, id)
    else if (kind === 'launch') giveUpLaunch(core, id)
    else if (kind === 'cpu') pollAll(core)
    else {
      core.rescale = true
      if (id === 'every') setTimer(core, { kind: 'scale', id: 'every' }, core.now + core.scaler.everyMs)
    }
  }
}

/** A policy that decides by the clock has timers of its own. */
function changesFleet({ type }: Event, everyMs: number): boolean {
  if (type === 'tick') return everyMs === 0
  return type === 'joined' || type === 'lost' || type === 'launch-failed' || type === 'drain'
}
