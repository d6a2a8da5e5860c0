/** Follows a kept job by its server-sent events, with a progress bar on a terminal, otherwise with a line per change. */

import { setTimeout as delay } from 'node:timers/promises'
import { problemText } from './asking.ts'
import type { Client } from './client.ts'
import { type FollowedJob, leftText, progressText } from './job-text.ts'
import { type Progress, progressLine } from './progress.ts'

export interface FollowOptions {
  path: string
  headers: Record<string, string>
  signal: AbortSignal
  /** Prints a line, if there is no terminal. */
  line?(text: string): void
}

const againMs = 1_000
/** Without a terminal, at most one line in this time. */
const lineMs = 1_000

/** Resolves with the job when it has ended, or with a text that says why it cannot be followed. Reconnects. */
export async function followKeptJob(
  connection: Client,
  { path, headers, signal, line }: FollowOptions,
): Promise<FollowedJob | string> {
  const bar = progressLine()
  const show = shower(bar, process.stderr.isTTY ? undefined : line)
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
            show(last.job)
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

function shower(
  bar: Progress,
  line: FollowOptions['line'],
  now = () => performance.now(),
): (job: FollowedJob) => void {
  let told = ''
  let toldAt = -Infinity
  return (job) => {
    const { state, progress, worker } = job
    const done = progress?.done ?? 0
    const all = done + (progress?.remaining ?? 0)
    const left = leftText(job, Date.now())
    bar.show(all > 0 ? done / all : 0, left === undefined ? state : `${state}, expected ${left}`)
    if (!line || now() - toldAt < lineMs) return
    const facts = [worker === undefined ? state : `${state} on ${worker}`, all > 0 && progressText(progress!)]
    const text = facts.filter((fact) => fact !== false).join(', ')
    if (text === told) return
    told = text
    toldAt = now()
    line(left === undefined ? text : `${text}, expected end ${left}`)
  }
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
