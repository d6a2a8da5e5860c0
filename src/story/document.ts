/** A story told: as a document for programs, and as lines for people. */

import { count, span, thousandths } from '../lib/quantities.ts'
import type { Estimate } from '../model/estimate.ts'
import type { Reason } from '../model/reason.ts'
import { explainEstimate } from '../systems/reasons.ts'
import { mostEntries, type Story } from './story.ts'
import { type Sums, summaryOf, sumsOf } from './summary.ts'
import { textOf } from './words.ts'

export interface WhyDocument extends Sums {
  job: string
  workload: string
  /** Null: it is not over. */
  outcome: Story['outcome'] | null
  state: Story['state']
  arrivedAt: number
  attempts: number
  /** The last that had it; empty: none did. */
  worker: string
  estimate: Pick<Estimate, 'work'> &
    Partial<Estimate> & {
      /** On the fleet as it was, at the rates that workers announce. */
      ms?: number
      reason?: Reason
      why?: string
    }
  /** What it really took, once it is known. */
  measured?: { work: number; cpuMs?: number; timesExpected?: number }
  pauses: number
  /** Jobs that ran in its place while it was paused. */
  passedBy: number
  /** How often it went before shorter jobs because it had waited so long. */
  turns: number
  summary: string
  story: Told[]
}

export interface Told {
  at: number
  afterMs: number
  event: Story['entries'][number]['event'] | 'left-out'
  attempt?: number
  worker?: string
  reason: Reason
  text: string
}

export interface Telling {
  /** The workers' discipline gives each running job a core to itself. */
  bounded: boolean
  now: number
}

export function whyDocument(story: Story, { bounded, now }: Telling): WhyDocument {
  const { job, quote, expectedMs, work, cpuMs, attempt, worker, state, pauses, passedBy, turns } = story
  const sums = sumsOf(story, bounded, now)
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
      work: job.work,
      ...(job.low !== undefined && { low: job.low }),
      ...(job.high !== undefined && { high: job.high }),
      ...(expectedMs !== undefined && { ms: expectedMs }),
      ...(quote && { source: quote.source, reason: quote.reason, why: explainEstimate(quote.reason) }),
    },
    ...(work !== undefined && {
      measured: {
        work,
        ...(cpuMs !== undefined && { cpuMs }),
        ...(job.work > 0 && { timesExpected: work / job.work }),
      },
    }),
    story: told(story),
  }
}

function told(story: Story): Told[] {
  const entries = story.entries.map((entry): Told => {
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
  const hole: Told = {
    ...{ at: before.at, afterMs: before.afterMs, event: 'left-out' },
    reason: { code: 'left-out', entries: leftOut },
    text: `Here ${count(leftOut, 'line')} of the story ${leftOut === 1 ? 'is' : 'are'} left out.`,
  }
  return [...entries.slice(0, mostEntries / 2), hole, ...entries.slice(mostEntries / 2)]
}

const lineWidth = 100

/** The summary, then a line for each entry, the time since the arrival before it. */
export function whyText({ job, workload, summary, story }: WhyDocument): string {
  const times = story.map(({ afterMs }) => span(afterMs))
  const width = Math.max(...times.map((time) => time.length))
  const lines = story.map(({ text }, i) => {
    const [first, ...rest] = wrap(text, lineWidth - width - 4)
    const indent = ' '.repeat(width + 4)
    return [`  ${times[i]!.padStart(width)}  ${first}`, ...rest.map((line) => `${indent}${line}`)].join('\n')
  })
  return [`Job ${job} (${workload})`, ...wrap(summary, lineWidth), '', ...lines].join('\n')
}

/** A number and its unit stay together. */
const gap = / (?!(?:ms|s|min|h|thousand|million|billion)\b)/

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(gap)) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
