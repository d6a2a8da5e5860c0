/** The coordinator's cache as a front in another process uses it: whatever goes wrong there is a miss, and soon. */

import { Pool } from 'undici'
import { cachePath, keptHeader, readKeptHead, writeKeptHead } from '../../wire/cache-messages.ts'
import { bearer } from '../../wire/token.ts'
import { type AnswerCache, type FoundAnswer, type KeptAnswer, longestIn } from './answer-cache.ts'

export interface SharedCacheParts {
  /** The coordinator's admin port. */
  join: URL
  token: string
  /** Of the cache there. */
  mostBytes: number
  /** Whether the coordinator can be reached, as far as is known. */
  isUp(): boolean
  /** A request waits so long for what may be kept; an answer that takes longer to go there is not kept. Default 250. */
  limitMs?: number
}

export interface SharedCache extends AnswerCache {
  get(key: string): Promise<FoundAnswer | undefined> | undefined
  /** What is under way is given up. */
  close(): void
}

const usualLimitMs = 250
/** After something went wrong nobody asks for so long, and then one alone: few wait for a coordinator that is stuck. */
const pauseMs = 1_000
const connections = 16
/** Most that is on its way there; answers beyond that are not kept. */
const mostOnItsWay = 16 * 1024 * 1024

export function sharedCache(parts: SharedCacheParts): SharedCache {
  const { join, token, mostBytes, isUp, limitMs = usualLimitMs } = parts
  const pool = new Pool(join.origin, { connections })
  const authorization = bearer(token)
  const mostAnswerBytes = longestIn(mostBytes)
  /** 0: all is well. */
  let pausedUntil = 0
  let onItsWay = 0
  const pause = () => {
    pausedUntil = performance.now() + pauseMs
  }

  async function ask(key: string): Promise<FoundAnswer | undefined> {
    const began = performance.now()
    const signal = AbortSignal.timeout(limitMs)
    const headers = { authorization }
    if (pausedUntil > 0) pause()
    try {
      const answer = await pool.request({ method: 'GET', path: `${cachePath}${key}`, headers, signal })
      const body = Buffer.from(await answer.body.arrayBuffer())
      pausedUntil = 0
      const head = answer.statusCode === 200 ? readKeptHead(answer.headers[keptHeader]) : undefined
      if (!head) return undefined
      const { status, fields, account, ageMs, goodMs = Infinity } = head
      // The way back may have taken all of this time.
      const tookMs = performance.now() - began
      if (tookMs >= goodMs) return undefined
      return { answer: { status, fields, body }, account, ageMs: ageMs + tookMs, leftMs: goodMs - tookMs }
    } catch {
      pause()
      return undefined
    }
  }

  async function send(key: string, kept: string, body: Buffer): Promise<void> {
    const headers = { authorization, [keptHeader]: kept }
    const signal = AbortSignal.timeout(limitMs)
    onItsWay += body.length
    try {
      const answer = await pool.request({ method: 'PUT', path: `${cachePath}${key}`, headers, body, signal })
      await answer.body.dump()
    } catch {
      // Then it is computed again.
    } finally {
      onItsWay -= body.length
    }
  }

  return {
    mostAnswerBytes,
    get: (key) => (isUp() && performance.now() >= pausedUntil ? ask(key) : undefined),
    put(key, { answer: { body, ...head }, account, ageMs }: KeptAnswer, goodMs) {
      if (
        !isUp() ||
        pausedUntil > 0 ||
        body.length > mostAnswerBytes ||
        onItsWay + body.length > mostOnItsWay
      )
        return
      const kept = writeKeptHead({ ...head, account, ageMs, goodMs })
      if (kept !== undefined) void send(key, kept, body)
    },
    close: () => void pool.destroy().catch(() => {}),
  }
}
