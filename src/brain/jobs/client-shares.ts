/** How much work has been done for each client lately. */

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
/** The name of the clients that share one. No client has it: names that look like a hash are hashed. */
export const otherClients = 'hash:others'

export interface ClientShare {
  readonly client: string
  /** Work done for it, less what is forgotten, at the time `at`. */
  used: number
  at: number
  tier: number
  /** When it last had a job. */
  seenAt: number
  readonly jobs: Set<JobRecord>
}

export class Shares {
  readonly clients = new Map<string, ClientShare>()
  readonly #most: number
  /** True: the timer for the next look is set. */
  planned = false

  constructor(most = mostClients) {
    this.#most = most
  }

  /** The name under which a client's work counts. */
  nameOf(client: string): string {
    return this.clients.has(client) || this.clients.size < this.#most ? client : otherClients
  }

  shareOf(client: string, now: number): ClientShare {
    let share = this.clients.get(client)
    if (!share) {
      share = { client, used: 0, at: now, tier: 0, seenAt: now, jobs: new Set() }
      this.clients.set(client, share)
    }
    return share
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
