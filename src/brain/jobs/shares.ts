/**
 * The shares of clients, by work and not by requests. If the cluster is fair, a client that has lately had more than its
 * share goes after the others, the further the more. A client that asks for less than its share does not notice the others.
 */

import type { Concern, Core } from '../core.ts'
import type { Attempt, JobRecord, WorkerRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { addWork, decay, tierOf } from './client-shares.ts'
import { doneWork, mirror } from './mirror.ts'
import { fill } from './placing.ts'
import { sendPrecedence } from './precedence.ts'

/** The interval between looks at the shares. */
const everyMs = 200
/** Up to this number of clients, a new one changes the tiers at once. */
const fewClients = 100

export const shares: Concern = {
  name: 'shares',
  arrives: join,
  ended(core, attempt, work) {
    // Work of a lost worker counts only as far as the last look has counted it.
    const isLost = attempt.worker.state === 'terminated' && !attempt.inFunction
    if (!isLost) countWork(core, attempt, work ?? doneWork(attempt, core.now))
  },
  over(core, record) {
    const share = core.shares.clients.get(record.sharer)
    if (!share) return
    share.jobs.delete(record)
    share.seenAt = core.now
  },
  timers: { share: checkShares },
}

function join(core: Core, record: JobRecord): undefined {
  const all = core.shares
  if (!all.fair) all.forgetSometimes(core.now)
  record.sharer = all.nameOf(record.client)
  const isNew = !all.clients.has(record.sharer)
  const share = all.shareOf(record.sharer, core.now)
  share.jobs.add(record)
  share.seenAt = core.now
  share.asked += record.job.work
  if (!all.fair) return
  record.tier = share.tier
  // Among many clients, one more changes the mean by little until the next look.
  if (isNew && all.clients.size > 1 && all.clients.size <= fewClients) level(core)
  if (!all.planned) plan(core)
}

/** Counts what the attempt has done since it was last counted. */
function countWork(core: Core, attempt: Attempt, done: number): void {
  const share = core.shares.clients.get(attempt.record.sharer)
  if (!share || !(done > attempt.counted)) return
  addWork(share, done - attempt.counted, core.now)
  attempt.counted = done
}

function checkShares(core: Core): void {
  const { now } = core
  const all = core.shares
  all.planned = false
  for (const worker of core.workers.values()) {
    for (const attempt of worker.jobs) if (attempt.running) countWork(core, attempt, doneWork(attempt, now))
  }
  all.forgetAbsent(now)
  level(core)
  if (all.clients.size > 0) plan(core)
}

/** Puts every client into its tier, and its jobs with it. */
function level(core: Core): void {
  const { now } = core
  const clients = [...core.shares.clients.values()]
  for (const share of clients) decay(share, now)
  const mean = clients.reduce((sum, { used }) => sum + used, 0) / clients.length
  const touched = new Set<WorkerRecord>()
  for (const share of clients) {
    const tier = tierOf(share.used / mean)
    if (tier === share.tier) continue
    const rises = tier > share.tier
    share.tier = tier
    const reason = {
      code: rises ? 'over-share' : 'within-share',
      percent: Math.round((share.used / mean / clients.length) * 100),
      clients: clients.length,
    }
    for (const record of share.jobs) {
      record.tier = tier
      const { attempt } = record
      if (attempt) {
        sendPrecedence(core, attempt, reason)
        touched.add(attempt.worker)
      } else if (record.queued) {
        core.queue.remove(record)
        core.queue.add(record, core.scheduler.rank(record), core.scheduler.isAside?.(record))
      }
    }
  }
  for (const worker of touched) {
    mirror(core, worker)
    core.scheduler.refile(worker)
    fill(core, worker)
  }
}

function plan(core: Core): void {
  core.shares.planned = true
  setTimer(core, { kind: 'share', id: 'every' }, core.now + everyMs)
}
