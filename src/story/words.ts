/** Sentences for the entries of a story. */

import { amount, count, share, span } from '../lib/quantities.ts'
import type { Reason } from '../model/reason.ts'
import { explainEstimate } from '../systems/reasons.ts'
import { explain, other } from './reasons.ts'
import { type Entry, expectedWork, type Story, type StoryEvent } from './story.ts'

const sentences: Readonly<Record<StoryEvent, (entry: Entry, story: Story) => string>> = {
  arrived: ({ reason }, { job, quote }) => {
    const { work, low, high, expectedMs, deadlineMs } = reason
    const units = `${amount(work)} units of work`
    const interval = low === high ? '' : `; nine of ten such jobs need ${amount(low)} to ${amount(high)}`
    const facts = `${units}${counted(reason)}${interval}`
    const need = expectedMs === undefined ? facts : `about ${span(expectedMs)} (${facts})`
    const source = quote ? `. Basis: ${explainEstimate(quote.reason)}` : ''
    const deadline = deadlineMs === undefined ? '' : `. Its deadline is in ${span(deadlineMs)}`
    return `arrived: a ${job.workload} job, expected to need ${need}${source}${deadline}`
  },
  wait: ({ reason }) => {
    const others = Number(reason.waiting) > 0 ? ` with ${count(reason.waiting, 'other')}` : ''
    return `waits in the queue${others}: ${explain(reason)}`
  },
  run: ({ reason, worker, attempt }) => {
    const { workers, waitedMs, idle, queued } = reason
    const sent = queued
      ? 'sent to'
      : Number(attempt) > 1
        ? `started again (attempt ${attempt}) on`
        : 'started on'
    const one = Number(workers) > 1 ? `, one of ${workers} workers` : ''
    const waited = waitedMs === undefined ? '' : `${one && ','} after ${span(waitedMs)} in the queue`
    const paused = !queued && Number(idle) > 1 ? `. ${idle} jobs are paused there now` : ''
    return `${sent} ${worker}${one}${waited}: ${explain(reason)}${paused}`
  },
  overflow: ({ reason, worker, attempt }) => {
    const again = Number(attempt) > 1 ? ` (attempt ${attempt})` : ''
    const waited = reason.waitedMs === undefined ? '' : ` after ${span(reason.waitedMs)} in the queue`
    return `sent to ${worker}${again}${waited}: ${explain(reason)}`
  },
  go: ({ worker, reason }) => `allowed to begin on ${worker}: ${explain(reason)}`,
  rank: ({ reason }) => {
    const { stands } = reason
    const priority =
      stands === -1 ? 'goes first' : stands === 0 ? 'has normal priority' : 'goes after other jobs'
    return `${priority} from now on: ${explain(reason)}`
  },
  pause: ({ reason, worker }) =>
    reason.code === 'no-core'
      ? `waits on ${worker} for a core: ${explain(reason)}`
      : `paused: ${explain(reason)}`,
  resume: ({ reason }) => `${resumed(reason)}: ${explain(reason)}`,
  revise: ({ reason }) => `estimate raised: ${explain(reason)}`,
  retry: ({ reason, worker, attempt }) =>
    `attempt ${attempt} on ${worker} failed after ${span(reason.afterMs)}: ${explain(reason)}. ${lostTime(reason)}`,
  drop: ({ attempt, reason }) => {
    const superseded =
      reason.attempt === attempt ? 'that attempt was given up' : `attempt ${reason.attempt} has replaced it`
    const why = reason.code === 'job-over' ? 'the job was over' : superseded
    return `a late message of attempt ${attempt} was ignored: ${why}`
  },
  answer: ({ reason, at }, story) => {
    const after = span(at - story.arrivedAt)
    if (story.outcome === 'result') return `answered after ${after}${measured(story)}`
    if (story.outcome === 'error') return `failed after ${after}: ${explain(reason)}`
    if (story.outcome === 'unknown') return `ended after ${after} with unknown outcome: ${explain(reason)}`
    return `rejected: ${explain(reason)}`
  },
  cancelled: ({ at, reason }, { arrivedAt }) => `cancelled after ${span(at - arrivedAt)}: ${explain(reason)}`,
}

export function textOf(entry: Entry, story: Story): string {
  return sentence(sentences[entry.event](entry, story))
}

export function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}

const ends: Readonly<Record<string, string>> = {
  finished: 'finished',
  failed: 'failed',
  outgrew: 'turned out to need more',
  progressed: 'was preempted',
}

function resumed({ code, pausedMs, after, afterEvent, workload }: Reason): string {
  const began = code === 'core-at-last' ? 'started' : 'resumed'
  const when = after === undefined ? '' : `, when ${other(after, workload)} ${ends[afterEvent!] ?? 'ended'}`
  return `${began} after ${span(pausedMs)}${when}`
}

/** The time that the brain uses to compare jobs, if it differs from the expected running time. */
function counted({ expectedMs, countsMs }: Reason): string {
  if (countsMs === undefined) return ''
  const factor = Number(countsMs) / Number(expectedMs)
  return factor > 0.8 && factor < 1.25 ? '' : `, which count as ${span(countsMs)} when jobs are compared`
}

/** The running time lost with an attempt; an upper bound if it is unknown when a silent worker stopped. */
function lostTime({ code, ranMs, silentMs, gone }: Reason): string {
  if (code === 'refused' || code === 'run-lost' || ranMs === 0) return 'The job is retried'
  const atMost = (code === 'unreachable' && gone === undefined) || silentMs !== undefined ? 'at most ' : ''
  return `It had run for ${atMost}${span(ranMs)}, which is lost; the job is retried`
}

/** Actual work, compared with the estimate. */
function measured(story: Story): string {
  const { work, cpuMs } = story
  if (work === undefined) return ''
  const cpu = cpuMs === undefined ? '' : ` in ${span(cpuMs)} of CPU time`
  const { work: expected } = expectedWork(story)
  return `: it did ${amount(work)} units of work${cpu}${expected > 0 ? `, ${comparison(work / expected)}` : ''}`
}

function comparison(factor: number): string {
  return Math.abs(factor - 1) < 0.02 ? 'as expected' : `${share(factor)} what was expected`
}
