/**
 * Turns: a job whose estimate is far too high would wait forever behind shorter ones. So a job that has been here many
 * times as long as it has run goes first for a while, a little longer each time. A short job ends in its first turn.
 */

import { thousandths } from '../../lib/quantities.ts'
import type { Concern, Core } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { clearTimer, setTimer } from '../timers.ts'
import { ranMs } from './mirror.ts'
import { reorder } from './placing.ts'
import { msOf } from './times.ts'

/** Turns take at most this share of the cores, so that short jobs stay short in overload. */
const mostOfCores = 0.25
/** A turn gives a job this many times what it is owed. */
const generosity = 1.5
/** The worker reports when a turn is over. If it does not, the turn ends after this many times its length. */
const patience = 1.5
/** The shortest time until a turn is checked again: a job that shares its core would otherwise be checked ever sooner. */
const leastCheckMs = 1

export const turns: Concern = {
  name: 'turns',
  isActive: ({ discipline, limits }) => discipline.ranks && limits.mostSlowdown > 0,
  arrives: watchAge,
  progressed(core, { record, done }) {
    if (record.turn !== 'taken' || done < record.until) return
    endTurn(core, record)
    watchAge(core, record)
  },
  /** The attempt in which the job had its turn has failed: it is owed another. */
  retries(core, record) {
    if (record.turn !== 'taken') return
    endTurn(core, record)
    watchAge(core, record)
  },
  over: endTurn,
  jobTimers: { turn: checkAge },
  timers: { turns: giveTurns },
}

/** Sets the timer for when the job is owed a turn. */
function watchAge(core: Core, record: JobRecord): undefined {
  plan(core, record, owedAt(core, record))
}

function checkAge(core: Core, record: JobRecord): void {
  record.turnTimer = undefined
  if (record.turn === 'taken') return checkTime(core, record)
  const due = owedAt(core, record)
  if (due > core.now) plan(core, record, due)
  else if (record.attempt?.running) plan(core, record, core.now + untilCaughtUp(core, due))
  else {
    record.turn = 'owed'
    record.due = due
    core.owed.push(record, due, record.seq)
    giveTurns(core)
  }
}

/** A job that does no work, because it waits for something, ends its turn by time. */
function checkTime(core: Core, record: JobRecord): void {
  const leftMs = record.aheadMs - ranMsOf(core, record)
  if (leftMs > 0) return plan(core, record, core.now + Math.max(leastCheckMs, leftMs * patience))
  leaveTurn(core, record)
  record.aheadMs = record.due = 0
  reorder(core, record, { code: 'turn-over', ranMs: thousandths(ranMsOf(core, record)) })
  watchAge(core, record)
  giveTurns(core)
}

/** The job no longer needs a turn, which may make room for another. */
function endTurn(core: Core, record: JobRecord): void {
  if (record.turn === 'taken') record.aheadMs = record.until = record.due = 0
  leaveTurn(core, record)
  giveTurns(core)
}

/** Takes the job's turn, and its claim to one. */
export function leaveTurn(core: Core, record: JobRecord): void {
  record.turnTimer = clearTimer(core, record.turnTimer)
  if (record.turn === 'taken') core.turns--
  // If it was owed a turn, its entry in the heap is skipped when it comes up.
  record.turn = 'none'
}

/** The maximum number of turns at a time. */
export function mostTurns({ cores }: Core): number {
  return Math.max(1, Math.floor(cores * mostOfCores))
}

/** Gives turns to jobs that are owed one, the longest due first. */
export function giveTurns(core: Core): void {
  while (core.owed.size > 0 && core.turns < mostTurns(core)) {
    if (core.turnsFrom > core.now) return
    const due = core.owed.topKey()
    const record = core.owed.pop()!
    if (record.turn !== 'owed') continue
    if (isOrWasRunning(core, record) || record.held || record.aheadMs > 0 || record.tier > 0) {
      record.turn = 'none'
      plan(core, record, core.now + untilCaughtUp(core, due))
    } else if (!give(core, record, due)) {
      // If no worker has room for this one, none has room for the others.
      core.owed.push(record, due, record.seq)
      return
    }
  }
}

/** A job whose worker has just been lost counts as running until its retry. */
function isOrWasRunning(core: Core, record: JobRecord): boolean {
  if (record.attempt) return record.attempt.running
  return core.retrying.some((attempt) => attempt.record === record && attempt.running)
}

/** False: no worker has room for the job. */
function give(core: Core, record: JobRecord, due: number): boolean {
  const { mostSlowdown, turnMs } = core.limits
  const waitedMs = core.now - record.arrivedAt
  record.turn = 'taken'
  record.aheadMs = Math.max(turnMs, waitedMs / mostSlowdown) * generosity
  // Jobs that must begin for their deadlines before the turn ends go before it. Nothing else delays it.
  record.due = core.now + record.aheadMs
  if (!record.attempt && !hasRoom(core, record)) {
    record.turn = 'owed'
    record.due = due
    record.aheadMs = record.until = 0
    return false
  }
  core.turns++
  const hadMs = ranMsOf(core, record)
  const leftMs = record.aheadMs - hadMs
  plan(core, record, core.now + leftMs * patience)
  spaceTurns(core, leftMs)
  reorder(core, record, {
    code: 'owed-turn',
    waitedMs: thousandths(waitedMs),
    ranMs: thousandths(hadMs),
  })
  return true
}

/** If the share of the cores is less than one core, turns take that share of the time instead. */
function spaceTurns(core: Core, turnMs: number): void {
  const share = core.cores * mostOfCores
  if (share >= 1) return
  core.turnsFrom = core.now + turnMs / share
  setTimer(core, { kind: 'turns', id: 'next' }, core.turnsFrom)
}

function hasRoom(core: Core, record: JobRecord): boolean {
  record.until = record.aheadMs
  return core.scheduler.place(record, core.now, true).worker !== undefined
}

/** When the job is owed a turn. */
function owedAt(core: Core, record: JobRecord): number {
  const { mostSlowdown, turnMs } = core.limits
  const plausibleMs = core.fastest > 0 ? msOf(record.job, leastPlausible(record), core.fastest) : 0
  const leastMs = Math.max(ranMsOf(core, record) + turnMs, plausibleMs)
  return record.arrivedAt + mostSlowdown * leastMs
}

/** The least plausible work: as far below the interval's low end as that is below the estimate. */
function leastPlausible({ job: { work, low = 0 } }: JobRecord): number {
  return work > 0 ? low * Math.min(1, low / work) : 0
}

/** Each millisecond that a job runs makes up for many that it is owed. */
function untilCaughtUp({ now, limits: { mostSlowdown, turnMs } }: Core, due: number): number {
  return Math.max(turnMs, (now - due) / mostSlowdown)
}

function ranMsOf(core: Core, { attempt }: JobRecord): number {
  return attempt ? ranMs(attempt, core.now) : 0
}

function plan(core: Core, record: JobRecord, at: number): void {
  record.turnTimer = setTimer(core, { kind: 'turn', id: record.job.id }, at)
}
