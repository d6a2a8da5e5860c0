/** Keeps whole answers by key, so many bytes of them; those that nobody asked for the longest go first. */

import type { Account, WholeAnswer } from '../../wire/whole-answer.ts'

export interface KeptAnswer {
  answer: WholeAnswer
  /** What is known of the job that computed it. */
  account: Account
  /** How long ago what it says was so. */
  ageMs: number
}

export interface FoundAnswer extends KeptAnswer {
  /** For how much longer it may be given. */
  leftMs: number
}

/** A store of answers. It may lie in another process: ages cross, moments do not. */
export interface AnswerCache {
  /** Answers with longer bodies are not kept. */
  readonly mostAnswerBytes: number
  get(key: string): FoundAnswer | undefined | Promise<FoundAnswer | undefined>
  /** Kept until it is `goodMs` old, if so long; in place of one that is there. */
  put(key: string, kept: KeptAnswer, goodMs: number): void
}

export interface CountedCache extends AnswerCache {
  get(key: string): FoundAnswer | undefined
  counters(): CacheCounters
}

export interface CacheCounters {
  hits: number
  misses: number
  entries: number
  /** Of bodies, heads and keys, with what it takes to keep them. */
  bytes: number
  mostBytes: number
}

export interface CacheOptions {
  mostBytes: number
  /** Older answers are not given again. */
  mostAgeMs?: number
  /** In milliseconds, and never back. */
  now(): number
}

/** What an entry takes besides its bytes: objects, the slots of maps, and what the runtime adds to them. */
const entryBytes = 1024
const longestAnswer = 4 * 1024 * 1024
/** One answer is at most such a part of all, so that it does not drive out all others. */
const largestPart = 1 / 8

interface Entry {
  answer: WholeAnswer
  account: Account
  bornAt: number
  goodUntil: number
  bytes: number
}

/** The longest body that a cache of so many bytes keeps. */
export function longestIn(mostBytes: number): number {
  return Math.min(longestAnswer, Math.floor(mostBytes * largestPart))
}

/** In this process. */
export function lruCache({ mostBytes, mostAgeMs = Infinity, now }: CacheOptions): CountedCache {
  /** In the order in which they were asked for. */
  const entries = new Map<string, Entry>()
  const mostAnswerBytes = longestIn(mostBytes)
  let bytes = 0
  let hits = 0
  let misses = 0

  function drop(key: string, entry: Entry): void {
    entries.delete(key)
    bytes -= entry.bytes
  }

  return {
    mostAnswerBytes,
    get(key) {
      const entry = entries.get(key)
      const time = now()
      if (entry && time >= entry.goodUntil) drop(key, entry)
      else if (entry) {
        entries.delete(key)
        entries.set(key, entry)
        hits++
        const { answer, account, bornAt, goodUntil } = entry
        return { answer, account, ageMs: time - bornAt, leftMs: goodUntil - time }
      }
      misses++
      return undefined
    },
    put(key, { answer, account, ageMs }, goodMs) {
      const old = entries.get(key)
      if (old) drop(key, old)
      if (answer.body.length > mostAnswerBytes) return
      const bornAt = now() - ageMs
      const goodUntil = bornAt + Math.min(goodMs, mostAgeMs)
      const size = bytesOf(key, answer, account)
      if (goodUntil <= now() || size > mostBytes) return
      for (const [oldest, entry] of entries) {
        if (bytes + size <= mostBytes) break
        drop(oldest, entry)
      }
      entries.set(key, {
        answer: { ...answer, body: owned(answer.body) },
        account,
        bornAt,
        goodUntil,
        bytes: size,
      })
      bytes += size
    },
    counters: () => ({ hits, misses, entries: entries.size, bytes, mostBytes }),
  }
}

/** What it takes to keep an answer. A character may take two bytes. */
export function bytesOf(key: string, { fields, body }: WholeAnswer, account: Account): number {
  return entryBytes + 2 * (key.length + lengthOf(fields) + lengthOf(account)) + body.length
}

/** In characters. */
function lengthOf(fields: Record<string, string>): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
}

/** A small buffer is as a rule a part of a larger one, which would be kept whole. */
function owned(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  copy.set(body)
  return copy
}
