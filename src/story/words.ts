/** One entry of a story as a sentence. */

import { explain, other } from '../brain/reasons.ts'
import { explainEstimate } from '../estimate/reasons.ts'
import type { Reason } from '../model.ts'
import { amount, count, ratio, span } from '../quantities.ts'
import type { Entry, Story, StoryEvent } from './story.ts'

type Teller = (entry: Entry, story: Story) => string

const tellers: Readonly<Record<StoryEvent, Teller>> = {
  arrived: ({ reason }, { job, quote }) => {
    const { work, low, high, expectedMs, deadlineMs } = reason
    const units = `${amount(work)} units of work`
    const need = expectedMs === undefined ? units : `about ${span(expectedMs)} (${units})`
    const interval = low === high ? '' : `, and nine of ten such jobs ${amount(low)} to ${amount(high)}`
    const source = quote ? `. That is ${explainEstimate(quote.reason)}` : ''
    const deadline = deadlineMs === undefined ? '' : `. Its deadline is in ${span(deadlineMs)}`
    return `arrived: a ${job.workload} job, expected to need ${need}${interval}${source}${deadline}`
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
  go: ({ worker, reason }) => `allowed to begin on ${worker}: ${explain(reason)}`,
  pause: ({ reason, worker }) =>
    reason.code === 'no-core'
      ? `waits on ${worker} for a core: ${explain(reason)}`
      : `paused: ${explain(reason)}`,
  resume: ({ reason }) => `${resumed(reason)}: ${explain(reason)}`,
  revise: ({ reason }) => `turned out longer: ${explain(reason)}`,
  retry: ({ reason, worker, attempt }) =>
    `attempt ${attempt} on ${worker} came to nothing after ${span(reason.afterMs)}: ${explain(reason)}. ` +
    `What it had run, ${span(reason.ranMs)}, is lost; it is tried again`,
  drop: ({ attempt, reason }) =>
    reason.code === 'job-over'
      ? `a late message of attempt ${attempt} was ignored: the job was over`
      : `a late message of attempt ${attempt} was ignored: attempt ${reason.attempt} counts`,
  answer: ({ reason, at }, story) => {
    const after = span(at - story.arrivedAt)
    if (story.outcome === 'result') return `answered after ${after}${measured(story)}`
    if (story.outcome === 'error') return `failed after ${after}: ${explain(reason)}`
    if (story.outcome === 'unknown')
      return `answered after ${after} that its outcome is not known: ${explain(reason)}`
    return `refused: ${explain(reason)}`
  },
  cancelled: ({ at, reason }, { arrivedAt }) => `given up after ${span(at - arrivedAt)}: ${explain(reason)}`,
}

export function textOf(entry: Entry, story: Story): string {
  return sentence(tellers[entry.event](entry, story))
}

export function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}

const ends: Readonly<Record<string, string>> = {
  finished: 'was done',
  failed: 'had failed',
  progressed: 'turned out to need more',
}

function resumed({ code, pausedMs, after, afterEvent, workload }: Reason): string {
  const began = code === 'core-at-last' ? 'began' : 'went on'
  const when =
    after === undefined ? '' : `, when ${other(after, workload)} ${ends[afterEvent!] ?? 'was over'}`
  return `${began} after ${span(pausedMs)}${when}`
}

/** What it really took, beside what was said of it. */
function measured({ work, cpuMs, job }: Story): string {
  if (work === undefined) return ''
  const cpu = cpuMs === undefined ? '' : ` in ${span(cpuMs)} of CPU time`
  return `: it did ${amount(work)} units of work${cpu}${job.work > 0 ? `, ${beside(work / job.work)}` : ''}`
}

function beside(factor: number): string {
  return Math.abs(factor - 1) < 0.02 ? 'as expected' : `${ratio(factor)} times what was expected`
}
