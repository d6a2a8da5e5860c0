/**
 * Fairness between clients, by work and not by requests: who has had more than its share lately goes after those that
 * have not, the further the more. A client that asks for less than its share does not notice the others.
 */

import { ConfigError } from '../../lib/errors.ts'
import { type Core, setTimer } from '../core.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'
import { doneWork, mirror } from './mirror.ts'
import { fill, sayRank } from './placing.ts'

/** What was done is forgotten at this pace: after so long a third of it counts. */
const memoryMs = 10_000
/** Whoever has not asked for anything for so long is not counted among those that share. */
const forgetMs = 30_000
/** How often shares are looked at. */
const everyMs = 200
/** A client with so much more than the mean is ahead of its share, and each further step is another tier. */
const [tolerated, step] = [1.1, 1.25]
const mostTiers = 30

export interface ClientShare {
  readonly client: string
  /** Work that was done for it, less what is forgotten, at the time `at`. */
  used: number
  at: number
  tier: number
  /** When a job of its was last here. */
  seenAt: number
  readonly jobs: Set<JobRecord>
}

export class Shares {
  readonly clients = new Map<string, ClientShare>()
  /** A look at the shares is planned. */
  planned = false

  shareOf(client: string, now: number): ClientShare {
    let share = this.clients.get(client)
    if (!share) {
      share = { client, used: 0, at: now, tier: 0, seenAt: now, jobs: new Set() }
      this.clients.set(client, share)
    }
    return share
  }
}

/** A discipline that does not rank lets everyone run, so nobody can be put behind. */
export function checkFair(fair: boolean, ranks: boolean, discipline: string): void {
  if (fair && !ranks)
    throw new ConfigError(`fair: needs workers that rank their jobs; ${discipline} does not`)
}

/** A job has come. */
export function joinShare(core: Core, record: JobRecord): void {
  const { shares } = core
  if (!shares) return
  const isNew = !shares.clients.has(record.client)
  const share = shares.shareOf(record.client, core.now)
  share.jobs.add(record)
  share.seenAt = core.now
  record.tier = share.tier
  if (isNew && shares.clients.size > 1) level(core)
  if (!shares.planned) plan(core)
}

/** The attempt has done so much more for its client. */
export function countWork(core: Core, record: JobRecord, done: number): void {
  const share = core.shares?.clients.get(record.client)
  if (!share || !(done > record.counted)) return
  forgetSome(share, core.now)
  share.used += done - record.counted
  record.counted = done
}

/** The job is over. */
export function leaveShare(core: Core, record: JobRecord): void {
  const share = core.shares?.clients.get(record.client)
  if (!share) return
  share.jobs.delete(record)
  share.seenAt = core.now
}

/** Looks at the shares now, and again while there are any. */
export function checkShares(core: Core): void {
  const { shares, now } = core
  if (!shares) return
  shares.planned = false
  for (const worker of core.workers.values()) {
    for (const record of worker.jobs) if (record.running) countWork(core, record, doneWork(record, now))
  }
  for (const share of shares.clients.values()) {
    if (share.jobs.size === 0 && now - share.seenAt > forgetMs) shares.clients.delete(share.client)
  }
  level(core)
  if (shares.clients.size > 0) plan(core)
}

/** Puts every client into its tier, and their jobs with them. */
function level(core: Core): void {
  const { now } = core
  const clients = [...core.shares!.clients.values()]
  for (const share of clients) forgetSome(share, now)
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
      const { worker } = record
      if (worker) {
        sayRank(core, record, reason)
        touched.add(worker)
      } else if (record.queued) {
        core.waiting.remove(record)
        core.waiting.add(record, core.scheduler.rank(record))
      }
    }
  }
  for (const worker of touched) {
    mirror(core, worker)
    core.scheduler.refile(worker)
    fill(core, worker)
  }
}

function tierOf(ratio: number): number {
  if (!(ratio > tolerated)) return 0
  return Math.min(mostTiers, Math.ceil(Math.log(ratio) / Math.log(step)))
}

function forgetSome(share: ClientShare, now: number): void {
  share.used *= Math.exp((share.at - now) / memoryMs)
  share.at = now
}

function plan(core: Core): void {
  core.shares!.planned = true
  setTimer(core, { kind: 'share', id: 'every' }, core.now + everyMs)
}
