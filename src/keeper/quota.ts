/** How many jobs may be open, and how much space their requests may take: together, and of one client. */

import { ReleaseRate, spreadMs } from '../lib/retry-times.ts'
import type { Content } from '../store/store.ts'
import { KeeperProblem } from './responses.ts'

export interface QuotaLimits {
  /** Open jobs of all clients. */
  jobs: number
  /** Stored requests of open jobs, in bytes. */
  bytes: number
  /** The part of both that one client may have, from 0 to 1. */
  clientShare: number
}

/** What the open jobs of one client take, or of all clients. */
export interface Usage {
  readonly client: string
  jobs: number
  bytes: number
}

/** Rates are those of the last minute or so. */
const windowMs = 60_000
const [leastRetryMs, mostRetryMs] = [1_000, 3_600_000]

/** A limit that leaves no room for a job that needs `need`. */
interface Full {
  name: 'open-jobs' | 'open-space'
  most: number
  have: number
  need: number
}

export class Quota {
  readonly #limits: QuotaLimits
  readonly #all: Usage = { client: '', jobs: 0, bytes: 0 }
  readonly #clients = new Map<string, Usage>()
  readonly #rates: { jobs: ReleaseRate; bytes: ReleaseRate }
  readonly #jobMs: () => number
  #refused = 0

  /** `jobMs`: after how much time one more job is expected to end, where none has ended lately. */
  constructor(limits: QuotaLimits, jobMs: () => number, now?: () => number) {
    this.#limits = limits
    this.#jobMs = jobMs
    this.#rates = { jobs: new ReleaseRate(windowMs, now), bytes: new ReleaseRate(windowMs, now) }
  }

  /** Why one more job of this client has no room; undefined: it has. */
  refusal(client: string, bytes: number): KeeperProblem | undefined {
    const { clientShare, bytes: all } = this.#limits
    const own = this.#clients.get(client) ?? { client, jobs: 0, bytes: 0 }
    const most = Math.floor(all * clientShare)
    if (bytes > most) return tooLarge(bytes, most)
    const full = this.#full(this.#all, bytes, 1)
    if (full) return this.#noRoom(full)
    const ownFull = this.#full(own, bytes, clientShare)
    return ownFull && this.#tooMany(ownFull, own)
  }

  /** The job is open until what is returned is given back. Jobs of an earlier keeper are taken whatever the limits are. */
  take(client: string, bytes: number): Usage {
    const own = this.#clients.get(client) ?? { client, jobs: 0, bytes: 0 }
    this.#clients.set(client, own)
    for (const usage of [own, this.#all]) {
      usage.jobs++
      usage.bytes += bytes
    }
    return own
  }

  giveBack(own: Usage, bytes: number): void {
    for (const usage of [own, this.#all]) {
      usage.jobs--
      usage.bytes -= bytes
    }
    if (own.jobs === 0) this.#clients.delete(own.client)
    this.#rates.jobs.released(1)
    this.#rates.bytes.released(bytes)
  }

  #full({ jobs, bytes: have }: Usage, bytes: number, share: number): Full | undefined {
    const most = {
      jobs: Math.max(1, Math.floor(this.#limits.jobs * share)),
      bytes: Math.floor(this.#limits.bytes * share),
    }
    if (jobs >= most.jobs) return { name: 'open-jobs', most: most.jobs, have: jobs, need: 1 }
    if (have + bytes > most.bytes) return { name: 'open-space', most: most.bytes, have, need: bytes }
    return undefined
  }

  #tooMany(full: Full, own: Usage): KeeperProblem {
    const { name, most } = full
    const { client } = own
    const what =
      name === 'open-jobs'
        ? `${most} open kept jobs`
        : `open kept jobs whose requests take ${full.have} bytes`
    return new KeeperProblem(
      429,
      'too-many-kept-jobs',
      `Client ${client} has ${what}; one client may have ${most} (--${name}, --open-share).`,
      this.#retryAfter(full, own.jobs / Math.max(1, this.#all.jobs)),
      { limit: name, client, most, have: full.have },
    )
  }

  #noRoom(full: Full): KeeperProblem {
    const { name, most, have } = full
    const what =
      name === 'open-jobs' ? `${have} open kept jobs` : `open kept jobs whose requests take ${have} bytes`
    return new KeeperProblem(
      503,
      'kept-jobs-full',
      `The cluster has ${what}, and at most ${most} are allowed (--${name}).`,
      this.#retryAfter(full, 1),
      { limit: name, most, have },
    )
  }

  /** When there will be room, if jobs go on ending as they do. `part`: of them that count. */
  #retryAfter({ name, most, have, need }: Full, part: number): Record<string, string> {
    const toRelease = Math.max(1, have + need - most)
    const isJobs = name === 'open-jobs'
    const observed = (isJobs ? this.#rates.jobs : this.#rates.bytes).msFor(toRelease)
    const jobs = isJobs ? toRelease : (toRelease / Math.max(1, have)) * this.#all.jobs
    const ms = (observed < Infinity ? observed : jobs * this.#jobMs()) / Math.max(part, 1e-6)
    const bounded = Math.min(mostRetryMs, Math.max(leastRetryMs, spreadMs(ms, ++this.#refused)))
    return { 'retry-after': `${Math.ceil(bounded / 1000)}` }
  }
}

function tooLarge(bytes: number, most: number): KeeperProblem {
  return new KeeperProblem(
    413,
    'kept-request-too-large',
    `The request takes ${bytes} bytes, and all open kept jobs of one client together may take ${most} (--open-space, --open-share).`,
    {},
    { limit: 'open-space', most },
  )
}

/** What the row of a job takes besides the texts of its request. */
const rowBytes = 512

/** The space that a request takes in the store. */
export function requestBytes(
  { target, fields }: { target: string; fields: readonly (readonly [string, string])[] },
  bodyBytes: number,
): number {
  return (
    fields.reduce((sum, [name, value]) => sum + name.length + value.length + 8, rowBytes + target.length) +
    bodyBytes
  )
}

/** Bodies that arrive in parts have a length that their senders tell. */
export function knownBytes(body: Content): number {
  return body instanceof Uint8Array ? body.length : 0
}
