/** One entry of a story as a sentence. */

import { amount, count, share, span } from '../lib/quantities.ts'
import type { Reason } from '../model/reason.ts'
import { explainEstimate } from '../systems/reasons.ts'
import { explain, other } from './reasons.ts'
import type { Entry, Story, StoryEvent } from './story.ts'

type Teller = (entry: Entry, story: Story) => string

const tellers: Readonly<Record<StoryEvent, Teller>> = {
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
    const place =
      stands === -1 ? 'goes first' : stands === 0 ? 'goes with the others again' : 'goes behind others'
    return `${place} from now on: ${explain(reason)}`
  },
  pause: ({ reason, worker }) =>
    reason.code === 'no-core'
      ? `waits on ${worker} for a core: ${explain(reason)}`
      : `paused: ${explain(reason)}`,
  resume: ({ reason }) => `${resumed(reason)}: ${explain(reason)}`,
  revise: ({ reason }) => `turned out longer: ${explain(reason)}`,
  retry: ({ reason, worker, attempt }) =>
    `attempt ${attempt} on ${worker} came to nothing after ${span(reason.afterMs)}: ${explain(reason)}. ${wasted(reason)}`,
  drop: ({ attempt, reason }) => {
    const counts = reason.attempt === attempt ? 'that one was given up' : `attempt ${reason.attempt} counts`
    const why = reason.code === 'job-over' ? 'the job was over' : counts
    return `a late message of attempt ${attempt} was ignored: ${why}`
  },
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
  outgrew: 'turned out to need more',
  progressed: 'had to make way',
}

function resumed({ code, pausedMs, after, afterEvent, workload }: Reason): string {
  const began = code === 'core-at-last' ? 'began' : 'went on'
  const when =
    after === undefined ? '' : `, when ${other(after, workload)} ${ends[afterEvent!] ?? 'was over'}`
  return `${began} after ${span(pausedMs)}${when}`
}

/** What the brain takes the work for when it compares jobs, where that is another time than it is known to take. */
function counted({ expectedMs, countsMs }: Reason): string {
  if (countsMs === undefined) return ''
  const factor = Number(countsMs) / Number(expectedMs)
  return factor > 0.8 && factor < 1.25 ? '' : `, which count as ${span(countsMs)} when jobs are compared`
}

/** What an attempt that came to nothing had done. Of a worker that fell silent nobody knows when it stopped. */
function wasted({ code, ranMs, silentMs, gone }: Reason): string {
  if (code === 'refused' || code === 'run-lost' || ranMs === 0) return 'It is tried again'
  const atMost = (code === 'unreachable' && gone === undefined) || silentMs !== undefined ? 'at most ' : ''
  return `What it had run, ${atMost}${span(ranMs)}, is lost; it is tried again`
}

/** What it really took, beside what was said of it. */
function measured({ work, cpuMs, job }: Story): string {
  if (work === undefined) return ''
  const cpu = cpuMs === undefined ? '' : ` in ${span(cpuMs)} of CPU time`
  return `: it did ${amount(work)} units of work${cpu}${job.work > 0 ? `, ${beside(work / job.work)}` : ''}`
}

function beside(factor: number): string {
  return Math.abs(factor - 1) < 0.02 ? 'as expected' : `${share(factor)} what was expected`
}
