/** Sends each job at its time, regardless of earlier ones (open loop), and records the response times. */
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import type { LiveJob, TimedJob } from './jobs.ts'
import type { Worded, Wording } from './wording.ts'

export interface Answered {
  /** From the time at which the job was due to the last byte of its answer. */
  responseMs: number
  /** Undefined: success. */
  error?: string
  headers: Record<string, string | string[] | undefined>
}

/** The shop's answers for unknown and sold-out products. */
const noGoods: readonly number[] = [404, 409]

/** The time allowed for all answers after the last job was sent. */
const patienceMs = 180_000

export function poolOf(url: string): Pool {
  return new Pool(url, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 50_000 })
}

export async function play(
  url: string,
  jobs: readonly TimedJob[],
  wording: Wording,
  signal: AbortSignal,
): Promise<Answered[]> {
  const pool = poolOf(url)
  const giveUp = new AbortController()
  const worded = jobs.map((job, i) => wording(job, `live-${i}`))
  try {
    const began = performance.now()
    const answers: Promise<Answered>[] = []
    for (const [i, { atMs }] of jobs.entries()) {
      const waitMs = began + atMs - performance.now()
      if (waitMs > 0) await wait(waitMs, undefined, { signal })
      answers.push(send(pool, worded[i]!, began + atMs, giveUp.signal))
    }
    const onAbort = () => giveUp.abort()
    const timer = setTimeout(onAbort, patienceMs)
    signal.addEventListener('abort', onAbort)
    const all = await Promise.all(answers)
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    signal.throwIfAborted()
    return all
  } finally {
    await pool.destroy()
  }
}

/** Sends jobs in order, at a bounded concurrency. */
export async function workOff(
  url: string,
  jobs: Iterable<LiveJob>,
  { wording, lanes, signal }: { wording: Wording; lanes: number; signal: AbortSignal },
  done: (job: LiveJob, answer: Answered) => void = () => {},
): Promise<void> {
  const pool = poolOf(url)
  const todo = jobs[Symbol.iterator]()
  let number = 0
  try {
    const lane = async () => {
      for (let next = todo.next(); !next.done; next = todo.next()) {
        signal.throwIfAborted()
        const worded = wording(next.value, `once-${process.hrtime.bigint()}-${number++}`)
        done(next.value, await send(pool, worded, performance.now(), signal))
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
  } finally {
    await pool.destroy()
  }
}

/** Never rejects. */
async function send(pool: Pool, worded: Worded, dueAt: number, signal: AbortSignal): Promise<Answered> {
  try {
    const response = await pool.request({ ...worded, method: 'POST', signal })
    const bytes = await response.body.bytes()
    const responseMs = performance.now() - dueAt
    const { statusCode } = response
    // A long answer carries figures that are known only at its end as trailers.
    const headers = { ...response.headers, ...response.trailers }
    if (statusCode < 300 || noGoods.includes(statusCode)) return { responseMs, headers }
    return { responseMs, headers, error: `${statusCode} ${Buffer.from(bytes).toString('utf8', 0, 300)}` }
  } catch (error) {
    return { responseMs: performance.now() - dueAt, headers: {}, error: String(error) }
  }
}
