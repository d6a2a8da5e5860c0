/** How workers join, and what their reports change. */

import type { AttemptToken, HeldAttempt } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { SlotStarts } from '../../model/worker.ts'
import type { Core } from '../core.ts'
import { moveAttempts } from '../jobs/adopting.ts'
import { releaseAttempt } from '../jobs/attempts.ts'
import { checkFacts } from '../jobs/checks.ts'
import { mirror } from '../jobs/mirror.ts'
import { fill } from '../jobs/placing.ts'
import { repeatPrecedence } from '../jobs/precedence.ts'
import { noteDone, noteWaiting } from '../jobs/progress.ts'
import { retryAll } from '../jobs/retry.ts'
import { awakeMs } from '../own-pauses.ts'
import { claimKey, mayBeClaimed } from '../recovery.ts'
import { type Attempt, newWorkerRecord, type Unclaimed, type WorkerRecord } from '../state.ts'
import { countReady } from './capacity.ts'
import { endLaunch } from './launching.ts'
import { assignRole, repeatRole } from './roles.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

export function join(core: Core, event: Of<'joined'>): void {
  const { worker: facts, seq, held } = event
  const known = core.workers.get(facts.id)
  if (known) {
    if (seq > known.seq) rejoin(core, known, seq, held)
    return
  }
  checkFacts(facts)
  const launch = event.launch === undefined ? undefined : core.launches.get(event.launch)
  if (event.launch !== undefined && !endLaunch(core, event.launch)) {
    const reason = { code: 'not-expected', launch: event.launch }
    core.actions.push({ type: 'terminate', worker: facts.id, reason })
    return
  }
  if (launch && !launch.adopted) core.boots.add(event.bootMs ?? awakeMs(core, launch.at))
  core.launchFailures = 0
  core.launchNotBefore = 0
  const number = ++core.seqs.worker
  const assigned = core.scaler.roles && assignRole(core, core.scaler.roles, facts.id)
  const usable = assigned?.takesJobs === false ? { ...facts, slots: 0 } : facts
  const worker = newWorkerRecord(usable, {
    ...{ number, launch: event.launch, state: 'ready', since: launch?.at ?? core.now, placedAt: core.now },
    ...{ seq, placedStamp: number - 2 ** 40 },
    ...(assigned && { role: assigned.role }),
  })
  core.workers.set(worker.id, worker)
  countReady(core, worker, 1)
  core.coresEach = worker.cores
  core.fastest = Math.max(core.fastest, worker.workPerSecond)
  for (const joined of core.hooks.joined) joined(core, worker)
  moveAttempts(core, worker, held)
  cancelUnwanted(core, worker, held)
  core.scheduler.refile(worker)
  fill(core, worker)
}

/** The worker had lost its connection. Attempts that it no longer holds are lost. */
function rejoin(core: Core, worker: WorkerRecord, seq: number, held: HeldAttempt[]): void {
  reconcile(core, worker, { seq, held }, 0)
  repeatPrecedence(core, worker)
  repeatRole(core, worker)
}

export function report(core: Core, event: Of<'reported'>): void {
  const worker = core.workers.get(event.worker)
  if (!worker) {
    const reason = { code: 'unknown-worker' }
    core.actions.push({ type: 'terminate', worker: event.worker, reason })
  } else if (event.seq > worker.seq) {
    if (event.role !== worker.role) repeatRole(core, worker)
    const { smallMb = 0 } = event
    if (smallMb >= 0 && smallMb < Infinity) worker.smallMb = smallMb
    worker.slotStarts = validStarts(event.slotStarts)
    reconcile(core, worker, event, core.limits.settleMs)
  }
}

function validStarts(starts: SlotStarts | undefined): SlotStarts | undefined {
  return starts && starts.ready >= 0 && starts.startMs >= 0 && starts.startMs < Infinity ? starts : undefined
}

/** Compares what the worker holds with what it should hold, and repairs the difference. */
function reconcile(
  core: Core,
  worker: WorkerRecord,
  { seq, held, cpuMs }: { seq: number; held: HeldAttempt[]; cpuMs?: number },
  settleMs: number,
): void {
  worker.seq = seq
  worker.lastSeenAt = core.now
  worker.reports++
  for (const reported of core.hooks.reported) reported(core, worker, cpuMs)
  for (const token of held) {
    const attempt = currentOn(core, worker, token)
    if (!attempt) continue
    attempt.seenIn = worker.reports
    noteWaiting(core, attempt, token.waiting === true)
    if (token.done !== undefined) noteDone(core, attempt, token.done)
    for (const noteHeld of core.hooks.held) noteHeld(core, attempt, token)
  }
  cancelUnwanted(core, worker, held)
  // A report and an answer may cross on the way, so a single report without the attempt proves nothing.
  const reports = settleMs > 0 ? 2 : 1
  const missing = worker.jobs.filter(
    ({ seenIn, sentAt, answering }) =>
      !answering && worker.reports - seenIn >= reports && awakeMs(core, sentAt) >= settleMs,
  )
  worker.suspect = false
  worker.unreachable = false
  worker.brokenJobs = []
  for (const attempt of missing) releaseAttempt(core, attempt)
  mirror(core, worker)
  core.scheduler.refile(worker)
  retryAll(core, missing, 'run-lost')
  fill(core, worker)
}

/** The current attempt that this token names, if the worker should hold it. */
function currentOn(core: Core, worker: WorkerRecord, token: AttemptToken): Attempt | undefined {
  const attempt = core.jobs.get(token.job)?.attempt
  const isCurrent = attempt?.number === token.attempt && attempt.epoch === token.epoch
  return isCurrent && attempt?.worker === worker ? attempt : undefined
}

/** Cancels attempts that the worker holds and should not. Those of an earlier brain may still be claimed by a front. */
function cancelUnwanted(core: Core, worker: WorkerRecord, held: HeldAttempt[]): void {
  let unclaimed: Map<string, Unclaimed> | undefined
  for (const token of held) {
    if (currentOn(core, worker, token)) continue
    if (mayBeClaimed(core, token)) {
      unclaimed ??= new Map()
      const before = worker.unclaimed?.get(claimKey(token))
      // Without news, its progress is as extrapolated from the last report.
      const known = token.done === undefined ? before : undefined
      unclaimed.set(claimKey(token), { at: core.now, ...known, ...token })
      continue
    }
    const { epoch, job, attempt } = token
    const reason = { code: 'superseded' }
    core.actions.push({ type: 'cancel', epoch, job, attempt, worker: worker.id, reason })
  }
  worker.unclaimed = unclaimed
}
