/** Follows a kept job by its server-sent events, with a progress bar on a terminal. */

import { setTimeout as delay } from 'node:timers/promises'
import { problemText } from './asking.ts'
import type { Client } from './client.ts'
import { progressLine } from './progress.ts'
import { duration } from './table.ts'

/** A kept job, as the cluster describes it. */
export interface FollowedJob {
  id: string
  workload: string
  state: string
  acceptedAt: string
  endedAt?: string
  eta?: { earliest: string; expected: string; latest: string }
  progress?: { done: number; remaining: number }
  worker?: string
  job?: string
  waitsFor?: string
  answer?: { status: number; bytes: number; isKept: boolean }
  facts?: { saved?: number }
}

export interface FollowOptions {
  path: string
  headers: Record<string, string>
  signal: AbortSignal
}

const againMs = 1_000

/** Resolves with the job when it has ended, or with a text that says why it cannot be followed. Reconnects. */
export async function followKeptJob(
  connection: Client,
  { path, headers, signal }: FollowOptions,
): Promise<FollowedJob | string> {
  const bar = progressLine()
  let last: { id: string; job: FollowedJob } | undefined
  try {
    for (;;) {
      const resumed = { ...headers, ...(last && { 'last-event-id': last.id }) }
      const answer = await connection.send({ method: 'GET', path, headers: resumed, signal })
      if (answer.status === 503) await answer.body.dump()
      else if (answer.status !== 200) return problemText(answer.status, await answer.body.text())
      else {
        try {
          for await (const { event, id, data } of eventsOf(answer.body)) {
            last = { id, job: JSON.parse(data) as FollowedJob }
            if (event === 'ended') return last.job
            show(bar, last.job)
          }
        } catch (error) {
          if (signal.aborted) throw error
        }
      }
      // The keeper or the front was restarted.
      await delay(againMs, undefined, { signal })
    }
  } finally {
    bar.done()
  }
}

function show(bar: ReturnType<typeof progressLine>, { state, progress, eta }: FollowedJob): void {
  const all = progress ? progress.done + progress.remaining : 0
  const left = eta && Math.max(0, Date.parse(eta.expected) - Date.now())
  bar.show(
    progress && all > 0 ? progress.done / all : 0,
    left === undefined ? state : `${state}, about ${duration(left)} left`,
  )
}

interface SentEvent {
  event: string
  id: string
  data: string
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of body) {
    pending += decoder.decode(bytes, { stream: true })
    for (let end = pending.indexOf('\n\n'); end >= 0; end = pending.indexOf('\n\n')) {
      const found: SentEvent = { event: '', id: '', data: '' }
      for (const line of pending.slice(0, end).split('\n')) {
        const [, name, value = ''] = /^(event|id|data): (.*)$/.exec(line) ?? []
        if (name) found[name as keyof SentEvent] = value
      }
      pending = pending.slice(end + 2)
      if (found.event !== '') yield found
    }
  }
}
