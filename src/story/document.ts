/** A story as a JSON document for programs, and as text for people. */

import type { EstimateError } from '../estimate/errors.ts'
import { amount, count, span, thousandths } from '../lib/quantities.ts'
import type { Estimate } from '../model/estimate.ts'
import type { Reason } from '../model/reason.ts'
import { explainEstimate } from '../systems/reasons.ts'
import { expectedWork, mostEntries, type Story } from './story.ts'
import { type Sums, summaryOf, sumsOf } from './summary.ts'
import { textOf } from './words.ts'

export interface WhyDocument extends Sums {
  job: string
  workload: string
  /** Null while the job is open. */
  outcome: Story['outcome'] | null
  state: Story['state']
  arrivedAt: number
  attempts: number
  /** The last worker or function that ran it; empty if none did. */
  worker: string
  estimate: Pick<Estimate, 'work'> &
    Partial<Estimate> & {
      /** Running time on the fleet at arrival, at the rates that workers announce. */
      ms?: number
      reason?: Reason
      why?: string
    }
  /** Actual cost, once known. */
  measured?: { work: number; cpuMs?: number; timesExpected?: number }
  /** How far estimates of the workload were off lately, this job's included. */
  recentEstimates?: EstimateError
  pauses: number
  /** Jobs that ran in its place while it was paused. */
  passedBy: number
  /** Number of turns, in which it went before shorter jobs because of its long wait. */
  turns: number
  summary: string
  story: DocumentEntry[]
}

export interface DocumentEntry {
  at: number
  afterMs: number
  event: Story['entries'][number]['event'] | 'left-out'
  attempt?: number
  worker?: string
  reason: Reason
  text: string
}

export interface DocumentOptions {
  /** The workers' discipline gives each running job a core to itself. */
  bounded: boolean
  now: number
  /** How far the workload's estimates were off lately. */
  recent?: EstimateError | undefined
}

export function whyDocument(story: Story, { bounded, now, recent }: DocumentOptions): WhyDocument {
  const { job, quote, expectedMs, work, cpuMs, attempt, worker, state, pauses, passedBy, turns } = story
  const sums = sumsOf(story, bounded, now)
  const expected = expectedWork(story)
  return {
    job: job.id,
    workload: job.workload,
    outcome: story.outcome ?? null,
    state,
    summary: summaryOf(story, sums),
    ...sums,
    arrivedAt: story.arrivedAt,
    attempts: attempt,
    worker,
    pauses,
    passedBy,
    turns,
    estimate: {
      work: expected.work,
      ...(expected.low !== undefined && { low: expected.low }),
      ...(expected.high !== undefined && { high: expected.high }),
      ...(expectedMs !== undefined && { ms: expectedMs }),
      ...(quote && { source: quote.source, reason: quote.reason, why: explainEstimate(quote.reason) }),
    },
    ...(work !== undefined && {
      measured: {
        work,
        ...(cpuMs !== undefined && { cpuMs }),
        ...(expected.work > 0 && { timesExpected: work / expected.work }),
      },
    }),
    ...(recent && { recentEstimates: recent }),
    story: entriesOf(story),
  }
}

function entriesOf(story: Story): DocumentEntry[] {
  const entries = story.entries.map((entry): DocumentEntry => {
    const { at, event, attempt, worker, reason } = entry
    return {
      at,
      afterMs: thousandths(at - story.arrivedAt),
      event,
      ...(attempt !== undefined && { attempt }),
      ...(worker !== undefined && { worker }),
      reason,
      text: textOf(entry, story),
    }
  })
  const { leftOut } = story
  if (leftOut === 0) return entries
  const before = entries[mostEntries / 2 - 1]!
  const gap: DocumentEntry = {
    ...{ at: before.at, afterMs: before.afterMs, event: 'left-out' },
    reason: { code: 'left-out', entries: leftOut },
    text: `${count(leftOut, 'line')} omitted here.`,
  }
  return [...entries.slice(0, mostEntries / 2), gap, ...entries.slice(mostEntries / 2)]
}

const mostWidth = 100

/** The summary, then one line per entry, prefixed with the time since arrival. */
export function whyText(
  { job, workload, summary, story, recentEstimates }: WhyDocument,
  width = mostWidth,
): string {
  const lineWidth = Math.max(40, Math.min(mostWidth, width))
  const times = story.map(({ afterMs }) => span(afterMs))
  const timeWidth = Math.max(...times.map((time) => time.length))
  const lines = story.map(({ text }, i) => {
    const [first, ...rest] = wrap(text, lineWidth - timeWidth - 4)
    const indent = ' '.repeat(timeWidth + 4)
    return [`  ${times[i]!.padStart(timeWidth)}  ${first}`, ...rest.map((line) => `${indent}${line}`)].join(
      '\n',
    )
  })
  const recent = recentEstimates
    ? wrap(`Estimates of ${workload}: ${errorText(recentEstimates)}.`, lineWidth)
    : []
  return [`Job ${job} (${workload})`, ...wrap(summary, lineWidth), ...recent, '', ...lines].join('\n')
}

/** In status, and in the story of a job. */
export function errorText({ requests, medianFactor, worst }: EstimateError): string {
  const last = requests === 1 ? 'the last request' : `the median of the last ${requests} requests`
  const miss = `${amount(worst.estimated)} for ${amount(worst.measured)} of job ${worst.job}`
  return `off by ${factorText(medianFactor)} in ${last}, at worst by ${factorText(worst.factor)} (${miss})`
}

/** 1.04 ×, 43.5 ×, 1,200 ×. */
function factorText(factor: number): string {
  return `${Number(factor.toPrecision(3)).toLocaleString('en-US')} ×`
}

/** A space where a line may break: not between a number and its unit. */
const breakable = / (?!(?:ms|s|min|h|thousand|million|billion)\b)/

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(breakable)) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
