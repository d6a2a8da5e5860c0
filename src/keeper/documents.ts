/** The documents that describe kept jobs to clients. */

import { leftOf } from '../lib/retry-times.ts'
import type { StoredJob, Webhook } from '../store/store.ts'
import { linksOf } from '../wire/kept.ts'
import type { Place } from './cluster-view.ts'
import { endOf } from './eta.ts'
import type { OpenJob } from './open-jobs.ts'
import { acceptedEnds, type EndTimes, presentEnds } from './renewed-eta.ts'

/** Times in ISO 8601. */
export interface Eta {
  earliest: string
  expected: string
  latest: string
}

export interface JobDocument {
  id: string
  /** `accepted`: the cluster has not been given the job yet. */
  state: 'accepted' | 'queued' | 'running' | 'paused' | 'answered' | 'cancelled'
  workload: string
  /** Of the request. */
  method: string
  target: string
  /** For operators only. */
  client?: string
  acceptedAt: string
  endedAt?: string
  /** As expected now, or, of a job that has ended, when it was accepted: 90 % of jobs end in between. */
  eta?: Eta
  /** Work done, and work that it is still expected to need. */
  progress?: { done: number; remaining: number }
  worker?: string
  /** The id under which `plimsoll why` knows the job. */
  job?: string
  /** Why it waits, if the cluster refused it for now. */
  waitsFor?: string
  /** The last reasons of an open job, in words. */
  why?: readonly string[]
  /** In the cluster, the present one included; of an open job. */
  attempts?: number
  quote: unknown
  /** `isKept`: its result can be read. */
  answer?: { status: number; bytes: number; isKept: boolean }
  webhook?: Pick<Webhook, 'state' | 'tries' | 'problem'>
  facts?: unknown
  links: { self: string; result: string; events: string }
}

/** What is known of a job besides what is stored. */
export interface Standing {
  open?: OpenJob | undefined
  place?: Place | undefined
  now: number
}

export function documentOf(job: StoredJob, { open, place, now }: Standing): JobDocument {
  const { id, workload, method, target, acceptedAt, endedAt, quote, answer, webhook, facts } = job
  const isOpen = job.state === 'open'
  const ends = isOpen ? presentEnds(job, place, now) : acceptedEnds(job)
  return {
    id,
    state: isOpen ? (place?.state ?? 'accepted') : job.state === 'cancelled' ? 'cancelled' : 'answered',
    ...{ workload, method, target },
    acceptedAt: time(acceptedAt),
    ...(endedAt !== undefined && { endedAt: time(endedAt) }),
    ...(ends && { eta: etaOf(ends) }),
    ...(isOpen &&
      place?.done !== undefined && { progress: { done: place.done, remaining: place.remaining ?? 0 } }),
    ...(isOpen && place?.worker !== undefined && { worker: place.worker }),
    ...(isOpen && place?.attempts !== undefined && { attempts: place.attempts }),
    ...(isOpen && open?.job !== undefined && { job: open.job }),
    ...(isOpen && open?.waitsFor !== undefined && { waitsFor: open.waitsFor }),
    quote,
    ...(answer && { answer }),
    ...(webhook && { webhook: toldOf(webhook) }),
    ...(facts !== undefined && { facts }),
    links: linksOf(id),
  }
}

function toldOf({ state, tries, problem }: Webhook): NonNullable<JobDocument['webhook']> {
  return { state, tries, ...(problem !== undefined && { problem }) }
}

function etaOf({ earliest, expected, latest }: EndTimes): Eta {
  return { earliest: time(earliest), expected: time(expected), latest: time(latest) }
}

const [leastAgainMs, mostAgainMs, mostOverdueMs] = [1_000, 3_600_000, 300_000]

/**
 * When a client should look again, in seconds: when the job is expected to have ended. One that is overdue, or of which
 * nothing is known, is asked for after a quarter of its age. `eta`: as of now; default: when it was accepted.
 */
export function retryAfterS(
  { acceptedAt, quote }: Pick<StoredJob, 'acceptedAt' | 'quote'>,
  now: number,
  eta?: Eta,
): number {
  const ageMs = Math.max(0, now - acceptedAt)
  const expectedAt = eta ? Date.parse(eta.expected) : (endOf({ acceptedAt, quote }) ?? acceptedAt)
  const expectedMs = expectedAt - acceptedAt
  const ms = expectedMs > ageMs ? expectedMs - ageMs : Math.min(mostOverdueMs, leftOf(expectedMs, ageMs))
  return Math.ceil(Math.min(mostAgainMs, Math.max(leastAgainMs, ms)) / 1000)
}

/** Beyond these, a time is not a date. */
const lastDate = 8.64e15

function time(ms: number): string {
  return new Date(Math.min(lastDate, Math.max(0, ms))).toISOString()
}
