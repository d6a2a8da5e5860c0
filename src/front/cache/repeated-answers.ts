/** Answers of deterministic workloads: served from the cache, or shared while they are computed. */

import type { Job } from '../../model/job.ts'
import type { RepeatOptions } from '../../wire/front-settings.ts'
import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'
import type { Client } from '../client.ts'
import { withoutRateLimit } from '../rate-limit-fields.ts'
import { type Receiver, wholeBytes } from '../receiver.ts'
import type { Body } from '../request/body.ts'
import type { Repeat } from '../request/target.ts'
import { type AnswerCache, answerCache, type CacheCounters, type CountedCache } from './answer-cache.ts'
import type { CacheControl } from './answer-key.ts'
import { SharedAnswers } from './shared-answers.ts'

/** Larger answers are streamed, each to one client. */
const longestShared = 4 * 1024 * 1024

export interface RepeatCounters extends CacheCounters {
  /** Requests that joined the job of another. */
  shared: number
}

export interface RepeatParts {
  coalesce: boolean
  /** Undefined: answers are not cached. */
  cache: AnswerCache | undefined
  /** The clock of deadlines. */
  now(): number
}

/** A request whose answer may be cached or shared. */
export interface Repeatable {
  repeat: Repeat
  body: Body
  job: Job
  client: Client
  control: CacheControl
  /** True: a cached answer will do, but the job is not shared: it may be ended for reasons of this client alone. */
  alone: boolean
  /** Submits a job whose answer goes to the receiver. */
  start(job: Job, receiver: Receiver): void
}

export class RepeatedAnswers {
  readonly #parts: RepeatParts
  readonly #shared: SharedAnswers

  constructor(parts: RepeatParts) {
    this.#parts = parts
    this.#shared = new SharedAnswers(parts.now)
  }

  /** True: the client and the job allow an answer that was computed for another. */
  takes({ safeToRepeat = true }: Job, { alone }: CacheControl): boolean {
    return safeToRepeat && !alone
  }

  /** Answers the client, and discards the body when it is no longer needed. */
  async serve({ repeat, body, job, client, control, alone, start }: Repeatable): Promise<void> {
    const { cache, now } = this.#parts
    const coalesce = this.#parts.coalesce && !alone
    const { cacheMs } = repeat
    const arrivedAt = now()
    const key = await repeat.key()
    const found = control.fresh ? undefined : cache?.get(key)
    // Equal requests must not overtake each other, so a local cache is not awaited.
    const kept = found instanceof Promise ? await found : found
    if (client.gone) return body.discard()
    if (kept) {
      const seconds = Math.floor(kept.ageMs / 1000)
      const timing = `cache;dur=${(now() - arrivedAt).toFixed(3)}`
      const account = { 'plimsoll-cache': 'hit', age: `${seconds}`, 'server-timing': timing }
      client.deliver(kept.answer, { ...kept.account, ...account })
      return body.discard()
    }
    const waiter = { job, client, arrivedAt }
    if (coalesce && !control.fresh && this.#shared.join(key, waiter, cacheMs)) return body.discard()
    const mostBytes = Math.max(wholeBytes, coalesce ? longestShared : 0, cache?.mostAnswerBytes ?? 0)
    this.#shared.lead(coalesce ? key : undefined, waiter, {
      mostBytes,
      start,
      keep: (answer, account, ageMs) => {
        if (cache && mayBeKept(answer)) cache.put(key, { answer, account: lasting(account), ageMs }, cacheMs)
      },
      ended: () => void body.discard(),
    })
  }

  /** `cache`: the cache of this process, if it has one. */
  counters(cache: CountedCache | undefined): RepeatCounters {
    const none = { hits: 0, misses: 0, entries: 0, bytes: 0, mostBytes: 0 }
    return { ...(cache?.counters() ?? none), shared: this.#shared.shared }
  }
}

/** The options that concern caching and sharing. */
export function repeatsOf({ cacheBytes, cacheAgeMs, coalesce }: RepeatOptions): RepeatOptions {
  return {
    ...(cacheBytes !== undefined && { cacheBytes }),
    ...(cacheAgeMs !== undefined && { cacheAgeMs }),
    ...(coalesce !== undefined && { coalesce }),
  }
}

/** The cache of the cluster, in its main process. Undefined: answers are not cached. */
export function cacheOf({ cacheBytes = 0, cacheAgeMs }: RepeatOptions): CountedCache | undefined {
  if (cacheBytes === 0) return undefined
  const age = cacheAgeMs === undefined ? {} : { mostAgeMs: cacheAgeMs }
  return answerCache({ mostBytes: cacheBytes, ...age, now: () => performance.now() })
}

/** Undefined: answers are neither cached nor shared. */
export function repeatedAnswers(
  { coalesce = false }: RepeatOptions,
  cache: AnswerCache | undefined,
  now: () => number,
): RepeatedAnswers | undefined {
  return cache || coalesce ? new RepeatedAnswers({ coalesce, cache, now }) : undefined
}

/** A workload may exclude a single answer with `cache-control`. A cookie belongs to one client. */
function mayBeKept({ status, fields }: WholeAnswer): boolean {
  if (status !== 200 || fields['set-cookie'] !== undefined) return false
  return !/\b(no-store|no-cache|private)\b/i.test(String(fields['cache-control'] ?? ''))
}

/** Timing describes one request only. */
function lasting({ 'server-timing': _, ...account }: Account): Account {
  return withoutRateLimit(account)
}
