/** Caches whole answers by key, up to a number of bytes. */

import { LRUCache } from 'lru-cache'
import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'

export interface KeptAnswer {
  answer: WholeAnswer
  /** Headers that describe the job that computed it. */
  account: Account
  /** Counted from the start of the job that computed it. */
  ageMs: number
}

export interface FoundAnswer extends KeptAnswer {
  /** Remaining lifetime. */
  leftMs: number
}

/** A store of answers. It may be in another process, whose clock differs: answers carry ages, not times. */
export interface AnswerCache {
  /** Answers with larger bodies are not cached. */
  readonly mostAnswerBytes: number
  get(key: string): FoundAnswer | undefined | Promise<FoundAnswer | undefined>
  /** Replaces the answer of this key. `goodMs`: the age at which it expires, unless the cache's own limit is lower. */
  put(key: string, kept: KeptAnswer, goodMs: number): void
}

export interface CountedCache extends AnswerCache {
  get(key: string): FoundAnswer | undefined
  counters(): CacheCounters
  /** Drops all answers. */
  clear(): void
}

export interface CacheCounters {
  hits: number
  misses: number
  entries: number
  /** Of bodies, heads and keys, with their overhead. */
  bytes: number
  mostBytes: number
}

export interface CacheOptions {
  mostBytes: number
  /** Older answers are expired. */
  mostAgeMs?: number
  /** Monotonic, in milliseconds. */
  now(): number
}

/** Overhead of an entry: objects and the slots of maps. */
const entryBytes = 1024
const longestAnswer = 4 * 1024 * 1024
/** One answer takes at most this part of the cache, so that it cannot evict all others. */
const largestPart = 1 / 8

interface Entry extends Pick<KeptAnswer, 'answer' | 'account'> {
  bornAt: number
  goodUntil: number
}

/** The longest body that a cache of this size keeps. */
export function longestIn(mostBytes: number): number {
  return Math.min(longestAnswer, Math.floor(mostBytes * largestPart))
}

/** A cache in this process that evicts the least recently used answers. */
export function answerCache({ mostBytes, mostAgeMs = Infinity, now }: CacheOptions): CountedCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: mostBytes,
    sizeCalculation: ({ answer, account }, key) => bytesOf(key, answer, account),
  })
  const mostAnswerBytes = longestIn(mostBytes)
  let hits = 0
  let misses = 0

  return {
    mostAnswerBytes,
    get(key) {
      const entry = entries.get(key)
      const time = now()
      if (entry && time < entry.goodUntil) {
        hits++
        const { answer, account, bornAt, goodUntil } = entry
        return { answer, account, ageMs: time - bornAt, leftMs: goodUntil - time }
      }
      entries.delete(key)
      misses++
      return undefined
    },
    put(key, { answer, account, ageMs }, goodMs) {
      entries.delete(key)
      const bornAt = now() - ageMs
      const goodUntil = bornAt + Math.min(goodMs, mostAgeMs)
      if (answer.body.length > mostAnswerBytes || goodUntil <= now()) return
      entries.set(key, { answer: { ...answer, body: owned(answer.body) }, account, bornAt, goodUntil })
    },
    clear: () => entries.clear(),
    counters: () => ({ hits, misses, entries: entries.size, bytes: entries.calculatedSize, mostBytes }),
  }
}

/** Memory of a cached answer. A character may take two bytes. */
export function bytesOf(key: string, { fields, body }: WholeAnswer, account: Account): number {
  return entryBytes + 2 * (key.length + lengthOf(fields) + lengthOf(account)) + body.length
}

function lengthOf(fields: WholeAnswer['fields']): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
}

/** A small buffer is usually a slice of a larger one, which would stay in memory with it. */
function owned(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  copy.set(body)
  return copy
}
