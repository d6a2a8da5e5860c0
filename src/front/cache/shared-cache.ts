/** The coordinator's cache for a front in another process. Every failure is a miss, within a short time limit. */

import { Agent } from 'undici'
import { cachePath, keptHeader, readKeptHead, writeKeptHead } from '../../wire/cache-messages.ts'
import { isSecure } from '../../wire/connect.ts'
import { bearer } from '../../wire/token.ts'
import { secureConnector } from '../transports/upstream.ts'
import { type AnswerCache, type FoundAnswer, type KeptAnswer, longestIn } from './answer-cache.ts'

export interface SharedCacheParts {
  /** The coordinator's admin port, or its join address. */
  join(): URL
  /** Of fronts. */
  token: string
  /** Size of that cache. */
  mostBytes: number
  /** True: the coordinator is believed to be reachable. */
  isUp(): boolean
  /** Time limit for one request to the cache. Default 250. */
  limitMs?: number
}

export interface SharedCache extends AnswerCache {
  get(key: string): Promise<FoundAnswer | undefined> | undefined
  /** Cancels requests in progress. */
  close(): void
}

const usualLimitMs = 250
/** After a failure no request is made for this long, and then a single one: few requests wait for a stuck coordinator. */
const pauseMs = 1_000
const connections = 16
/** Maximum number of bytes in flight to the cache; further answers are not cached. */
const mostInFlight = 16 * 1024 * 1024

export function sharedCache(parts: SharedCacheParts): SharedCache {
  const { join, token, mostBytes, isUp, limitMs = usualLimitMs } = parts
  const origin = () => `http://${join().host}`
  const secret = isSecure(join()) && { identity: 'front', token }
  const agent = new Agent({ connections, ...(secret && { connect: secureConnector(secret) }) })
  const authorization = bearer(token)
  const mostAnswerBytes = longestIn(mostBytes)
  /** 0: the last request succeeded. */
  let pausedUntil = 0
  let inFlight = 0
  const pause = () => {
    pausedUntil = performance.now() + pauseMs
  }

  async function ask(key: string): Promise<FoundAnswer | undefined> {
    const began = performance.now()
    const signal = AbortSignal.timeout(limitMs)
    const headers = { authorization }
    if (pausedUntil > 0) pause()
    try {
      const path = `${cachePath}${key}`
      const answer = await agent.request({ origin: origin(), method: 'GET', path, headers, signal })
      const body = Buffer.from(await answer.body.arrayBuffer())
      pausedUntil = 0
      const head = answer.statusCode === 200 ? readKeptHead(answer.headers[keptHeader]) : undefined
      if (!head) return undefined
      const { status, fields, account, ageMs, goodMs = Infinity } = head
      // The answer may have been on its way for all of this time.
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
    inFlight += body.length
    try {
      const path = `${cachePath}${key}`
      const answer = await agent.request({ origin: origin(), method: 'PUT', path, headers, body, signal })
      await answer.body.dump()
    } catch {
      // The answer is not cached, and computed again when needed.
    } finally {
      inFlight -= body.length
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
        inFlight + body.length > mostInFlight
      )
        return
      const kept = writeKeptHead({ ...head, account, ageMs, goodMs })
      if (kept !== undefined) void send(key, kept, body)
    },
    close: () => void agent.destroy().catch(() => {}),
  }
}
