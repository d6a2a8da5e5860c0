/**
 * Turns: a job whose estimate is far too high would wait for ever among shorter ones. So whoever has been here many
 * times as long as it has run goes first for a while, a little longer each time. A short job then ends in its turn.
 */

import { thousandths } from '../../lib/quantities.ts'
import { type Core, setTimer } from '../core.ts'
import type { JobRecord } from '../state.ts'
import { ranMs } from './mirror.ts'
import { reorder } from './placing.ts'

/** Turns take at most this share of the cores, so that in overload the short jobs are still short. */
const mostOfCores = 0.25
/** A turn takes a job so far beyond what it is owed. */
const generosity = 1.5
/** Its worker says when a turn is over; if it does not, a turn takes so much longer. */
const patience = 1.5

/** Asks to be called when the job is owed a turn, if it is still here then. */
export function watchAge(core: Core, record: JobRecord): void {
  if (core.discipline.ranks && core.limits.mostSlowdown > 0) plan(core, record, owedAt(core, record))
}

/** Is the job owed a turn? */
export function checkAge(core: Core, id: string): void {
  const record = core.jobs.get(id)!
  record.age = undefined
  if (record.turn === 'taken') return checkTime(core, record)
  const due = owedAt(core, record)
  if (due > core.now) plan(core, record, due)
  else if (record.running) plan(core, record, core.now + untilCaughtUp(core, due))
  else {
    record.turn = 'owed'
    record.due = due
    core.owed.push(record, due, record.seq)
    giveTurns(core)
  }
}

/** The job has done more: its turn may be over. */
export function checkTurn(core: Core, record: JobRecord): void {
  if (record.turn === 'taken' && record.done >= record.until) {
    endTurn(core, record)
    watchAge(core, record)
  }
}

/** Of a job that does hardly any work, for it waits for something, time tells when its turn is over. */
function checkTime(core: Core, record: JobRecord): void {
  const leftMs = record.aheadMs - ranMsOf(core, record)
  if (leftMs > 0) return plan(core, record, core.now + leftMs * patience)
  leaveTurn(core, record)
  record.aheadMs = record.due = 0
  reorder(core, record, { code: 'turn-over', ranMs: thousandths(ranMsOf(core, record)) })
  watchAge(core, record)
  giveTurns(core)
}

/** The job is over, or owed nothing any more. There may be room for another that is. */
export function endTurn(core: Core, record: JobRecord): void {
  if (record.turn === 'taken') record.aheadMs = record.until = record.due = 0
  leaveTurn(core, record)
  giveTurns(core)
}

/** The job has its turn, and its claim to one, no longer. */
export function leaveTurn(core: Core, record: JobRecord): void {
  if (record.age) core.timers.remove(record.age)
  record.age = undefined
  if (record.turn === 'taken') core.turns--
  // One that is still owed is passed over when it comes up.
  record.turn = 'none'
}

/** The attempt in which the job had its turn has come to nothing. It is owed another, where there is room. */
export function loseTurn(core: Core, record: JobRecord): void {
  if (record.turn !== 'taken') return
  endTurn(core, record)
  watchAge(core, record)
}

/** Turns that there may be at a time. */
export function mostTurns({ cores }: Core): number {
  return Math.max(1, Math.floor(cores * mostOfCores))
}

/** Gives turns to those that are owed one, the longest due first. */
export function giveTurns(core: Core): void {
  while (core.owed.size > 0 && core.turns < mostTurns(core)) {
    if (core.turnsFrom > core.now) return
    const due = core.owed.topKey()
    const record = core.owed.pop()!
    if (record.turn !== 'owed') continue
    if (record.running || record.aheadMs > 0 || record.tier > 0) {
      record.turn = 'none'
      plan(core, record, core.now + untilCaughtUp(core, due))
    } else if (!give(core, record, due)) {
      // Where there is no room for this one there is none for others.
      core.owed.push(record, due, record.seq)
      return
    }
  }
}

/** False: no worker has room for it. */
function give(core: Core, record: JobRecord, due: number): boolean {
  const { mostSlowdown, turnMs } = core.limits
  const waitedMs = core.now - record.arrivedAt
  record.turn = 'taken'
  record.aheadMs = Math.max(turnMs, waitedMs / mostSlowdown) * generosity
  // Those that must begin for their deadlines while it lasts go before it; but nothing puts it off for ever.
  record.due = core.now + record.aheadMs
  if (!record.worker && !hasRoom(core, record)) {
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

/** Where a quarter of the cores is less than one, the next turn waits for its quarter of the time. */
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

function owedAt(core: Core, record: JobRecord): number {
  const { mostSlowdown, turnMs } = core.limits
  const thinkableMs = core.fastest > 0 ? (leastThinkable(record) / core.fastest) * 1000 : 0
  const leastMs = Math.max(ranMsOf(core, record) + turnMs, thinkableMs)
  return record.arrivedAt + mostSlowdown * leastMs
}

/** Hardly any job takes less: so far from what was said as would be once more from the low end of the interval. */
function leastThinkable({ job: { work, low = 0 } }: JobRecord): number {
  return work > 0 ? low * Math.min(1, low / work) : 0
}

/** A running job makes good for what it is owed, each millisecond for many. */
function untilCaughtUp({ now, limits: { mostSlowdown, turnMs } }: Core, due: number): number {
  return Math.max(turnMs, (now - due) / mostSlowdown)
}

function ranMsOf(core: Core, record: JobRecord): number {
  return record.worker ? ranMs(record, core.now) : 0
}

function plan(core: Core, record: JobRecord, at: number): void {
  record.age = setTimer(core, { kind: 'age', id: record.job.id }, at)
}
