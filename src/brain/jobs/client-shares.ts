/** How much work each client has had lately, and has asked for. */

import { ConfigError } from '../../lib/errors.ts'
import type { JobRecord } from '../state.ts'

/** Work is forgotten exponentially, with this time constant. */
const memoryMs = 10_000
/** A client without jobs for this long no longer has a share. */
const forgetMs = 30_000
/** A client with more than this many times the mean is over its share, and each further step is another tier. */
const [tolerated, step] = [1.1, 1.25]
const mostTiers = 30
/** Further clients share one share: clients may choose their names, and each share costs memory and time. */
const mostClients = 10_000
/** What clients have asked for is added up this often: shedding must cost less than what it sheds. */
const addUpEveryMs = 100
/** The name of the clients that share one. No client has it: names that look like a hash are hashed. */
export const otherClients = 'hash:others'

export interface ClientShare {
  readonly client: string
  /** Work done for it, less what is forgotten, at the time `at`. */
  used: number
  at: number
  /** The same and the predicted work of its open jobs, when that was last added up and increased by later arrivals. */
  asked: number
  tier: number
  /** When it last had a job. */
  seenAt: number
  readonly jobs: Set<JobRecord>
}

export class Shares {
  readonly clients = new Map<string, ClientShare>()
  /** True: clients that have had more than their share go after the others. */
  readonly fair: boolean
  readonly #most: number
  /** True: the timer for the next look is set. */
  planned = false
  /** When absent clients were last forgotten. */
  #forgotAt = 0
  /** The mean of `asked`, and when it was added up. */
  #mean = { asked: 0, at: -Infinity }

  constructor(fair = false, most = mostClients) {
    this.fair = fair
    this.#most = most
  }

  /** The name under which a client's work counts. */
  nameOf(client: string): string {
    return this.clients.has(client) || this.clients.size < this.#most ? client : otherClients
  }

  shareOf(client: string, now: number): ClientShare {
    let share = this.clients.get(client)
    if (!share) {
      share = { client, used: 0, at: now, asked: 0, tier: 0, seenAt: now, jobs: new Set() }
      this.clients.set(client, share)
    }
    return share
  }

  /**
   * How a client stands by what it has had and asked for: in relation to the mean of all clients, and in percent of their
   * sum. If nobody has asked for anything, all are at the mean.
   */
  standing(client: string, now: number): { ofMean: number; percent: number; clients: number } {
    if (now - this.#mean.at >= addUpEveryMs) this.#addUp(now)
    const asked = this.clients.get(this.nameOf(client))?.asked ?? 0
    const ofMean = this.#mean.asked > 0 ? asked / this.#mean.asked : 1
    const clients = Math.max(1, this.clients.size)
    // Later arrivals are not part of the mean yet.
    return { ofMean, percent: Math.min(100, Math.round((ofMean / clients) * 100)), clients }
  }

  #addUp(now: number): void {
    let sum = 0
    for (const share of this.clients.values()) {
      decay(share, now)
      share.asked = share.used
      for (const { job, attempt } of share.jobs)
        share.asked += Math.max(0, job.work - (attempt?.counted ?? 0))
      sum += share.asked
    }
    this.#mean = { asked: sum / Math.max(1, this.clients.size), at: now }
  }

  /** For clusters that are not fair, and so look at no shares: forgets absent clients now and then. */
  forgetSometimes(now: number): void {
    if (now - this.#forgotAt <= forgetMs) return
    this.#forgotAt = now
    this.forgetAbsent(now)
  }

  forgetAbsent(now: number): void {
    for (const share of this.clients.values())
      if (share.jobs.size === 0 && now - share.seenAt > forgetMs) this.clients.delete(share.client)
  }
}

export function addWork(share: ClientShare, work: number, now: number): void {
  decay(share, now)
  share.used += work
}

export function decay(share: ClientShare, now: number): void {
  share.used *= Math.exp((share.at - now) / memoryMs)
  share.at = now
}

/** `ratio`: to the mean of all clients. */
export function tierOf(ratio: number): number {
  if (!(ratio > tolerated)) return 0
  return Math.min(mostTiers, Math.ceil(Math.log(ratio) / Math.log(step)))
}

/** Under a discipline that does not rank jobs, all of them run, so no client can go after another. */
export function checkFair(fair: boolean, ranks: boolean, discipline: string): void {
  if (fair && !ranks)
    throw new ConfigError(`fair: needs workers that rank their jobs; ${discipline} does not`)
}
