/** Sends the demo's requests at their times and classifies the answers. */

import { setTimeout as wait } from 'node:timers/promises'
import { accountOf } from '../terminal/account.ts'
import type { Client } from '../terminal/client.ts'
import type { DemoRequest } from './kinds.ts'

/** How a request ended. All but `lost` are answers. */
export type Ending = 'right' | 'wrong' | 'refused' | 'dropped' | 'unknown' | 'lost'

export interface Sent {
  request: DemoRequest
  /** Undefined: still in progress. */
  ending: Ending | undefined
  /** The fault, if there was one. */
  trouble: string
  job: string
  attempts: number
  responseMs: number
}

/** Maximum number of concurrent requests; further ones are sent late. */
const concurrency = 64

/** A request without an answer for this long after the last one was sent is lost. */
const patienceMs = 120_000

/** Fills `sent` while it runs and resolves when all requests have ended. */
export async function drive(
  client: Client,
  load: readonly DemoRequest[],
  sent: Sent[],
  interrupt: AbortSignal,
): Promise<void> {
  const began = performance.now()
  const underWay = new Set<Promise<void>>()
  const giveUp = new AbortController()
  const signal = AbortSignal.any([interrupt, giveUp.signal])
  for (const request of load) {
    await wait(Math.max(0, request.atMs - (performance.now() - began)), undefined, { signal })
    while (underWay.size >= concurrency) await Promise.race(underWay)
    const entry: Sent = { request, ending: undefined, trouble: '', job: '', attempts: 0, responseMs: 0 }
    sent.push(entry)
    const task = exchange(client, entry, signal).finally(() => underWay.delete(task))
    underWay.add(task)
  }
  const timer = setTimeout(() => giveUp.abort(), patienceMs)
  await Promise.all(underWay)
  clearTimeout(timer)
  interrupt.throwIfAborted()
}

async function exchange(client: Client, entry: Sent, signal: AbortSignal): Promise<void> {
  const { workload, params, body: picture, check } = entry.request
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const began = performance.now()
  try {
    const { status, headers, body } = await client.send({
      method: 'POST',
      path: picture ? `/${workload}?${query}` : `/${workload}`,
      headers: { 'content-type': picture ? 'application/octet-stream' : 'application/json' },
      body: picture ?? JSON.stringify(params),
      signal,
    })
    const bytes = Buffer.from(await body.bytes())
    const { job = '', attempts = 0 } = accountOf(headers)
    entry.job = job
    entry.attempts = attempts
    const trouble = status < 300 ? check(bytes) : `answered ${status}: ${bytes.toString('utf8').trim()}`
    entry.trouble = trouble ?? ''
    entry.ending = status < 300 ? (trouble === undefined ? 'right' : 'wrong') : endingOf(status, bytes)
  } catch (error) {
    entry.ending = 'lost'
    entry.trouble = (error as Error).message
  }
  entry.responseMs = performance.now() - began
}

/** Rejections that a correct request may receive. */
function endingOf(status: number, bytes: Buffer): Ending {
  if (status !== 502 && status !== 503 && status !== 504) return 'wrong'
  if (bytes.includes('urn:plimsoll:dropped')) return 'dropped'
  return bytes.includes('urn:plimsoll:outcome-unknown') ? 'unknown' : 'refused'
}
