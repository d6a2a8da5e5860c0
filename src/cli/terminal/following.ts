/** Follows a request from the outside while its answer is awaited: its estimate, then how far its job has come. */

import type { QuoteDocument } from '../../estimate/quote.ts'
import type { BrainView } from '../../model/view.ts'
import type { Admin } from './admin.ts'
import { quoteQuestion } from './asking.ts'
import { type Client, getJson, type Question } from './client.ts'
import { duration } from './table.ts'

/** What is known so far. */
export interface Known {
  quote?: Pick<QuoteDocument, 'work' | 'seconds'>
  /** Undefined: not seen in the cluster's state yet, or no longer. */
  job?: Place
  /** Milliseconds for a unit of work, from two looks at the running job; undefined: by the quote. */
  msPerWork?: number
}

interface Place {
  state: 'queued' | 'running' | 'paused'
  worker?: string
  /** Work done, and work that it is still expected to need. */
  done?: number
  remaining?: number
}

const pollMs = 500
/** The quote of a request with a larger body is not asked for: the body would be sent twice. */
const mostBytes = 1024 * 1024

export interface Following {
  readonly known: Known
  /** The request was accepted as this job. */
  follow(job: string): void
  stop(): void
}

/** Never fails: the line leaves out unknown facts. */
export function following(connection: Client, { url, token }: Admin, question: Question): Following {
  const known: Known = {}
  const stopped = new AbortController()
  void readQuote(connection, question, stopped.signal).then(
    (quote) => Object.assign(known, { quote }),
    () => {},
  )
  let timer: NodeJS.Timeout | undefined
  const paceOf = pace()
  const poll = async (job: string): Promise<void> => {
    const { signal } = stopped
    const state = await getJson<BrainView>(url, '/api/state', { signal, token }).catch(() => undefined)
    if (stopped.signal.aborted) return
    const place = state && placeOf(state, job)
    Object.assign(known, { job: place, msPerWork: paceOf(place) ?? known.msPerWork })
    timer = setTimeout(() => void poll(job), pollMs)
  }
  return {
    known,
    follow: (job) => void poll(job),
    stop() {
      stopped.abort()
      clearTimeout(timer)
    },
  }
}

async function readQuote(
  connection: Client,
  question: Question,
  signal: AbortSignal,
): Promise<QuoteDocument | undefined> {
  if ((question.body?.length ?? 0) > mostBytes) return undefined
  const { status, body } = await connection.send({ ...quoteQuestion(question), signal })
  const text = await body.text()
  return status === 200 ? (JSON.parse(text) as QuoteDocument) : undefined
}

/** Where the job is, by the state of the cluster. */
export function placeOf({ waiting, workers }: BrainView, job: string): Known['job'] {
  if (waiting.includes(job)) return { state: 'queued' }
  for (const { id, jobs } of workers) {
    const held = jobs.find((each) => each.job === job)
    if (!held) continue
    const { running, done, remaining } = held
    return { state: running ? 'running' : 'paused', worker: id, done, remaining }
  }
  return undefined
}

/** Returns the milliseconds for a unit of work since the job was first seen on its worker; undefined: not known yet. */
export function pace(now = () => performance.now()): (place: Place | undefined) => number | undefined {
  let first: { at: number; done: number; worker: string | undefined } | undefined
  return (place) => {
    if (place?.done === undefined) return undefined
    const { done, worker } = place
    const at = now()
    if (!first || first.worker !== worker || done < first.done) first = { at, done, worker }
    return done > first.done ? (at - first.at) / (done - first.done) : undefined
  }
}

/** The line: elapsed time, estimate, progress in work, remaining time, and where the job is. */
export function followingText(what: string, elapsedMs: number, { quote, job, msPerWork }: Known): string {
  const parts = [`${what}  ${(elapsedMs / 1000).toFixed(1)} s`]
  const { seconds } = quote ?? {}
  if (seconds) parts.push(`estimate ${duration(seconds.expected * 1000)}`)
  if (job?.done !== undefined && job.remaining !== undefined) {
    const all = job.done + job.remaining
    if (all > 0) parts.push(`${Math.floor((job.done / all) * 100)} % of the work`)
    const each =
      msPerWork ?? (quote && quote.work > 0 ? (quote.seconds.expected / quote.work) * 1000 : undefined)
    if (each !== undefined) parts.push(`about ${duration(each * job.remaining)} left`)
  }
  if (job) parts.push(job.worker === undefined ? job.state : `${job.state} on ${job.worker}`)
  return parts.join(' · ')
}
