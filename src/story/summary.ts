/** Summarizes a story in one or two sentences. */

import { count, share, span, thousandths } from '../lib/quantities.ts'
import type { Reason } from '../model/reason.ts'
import { openWorkers } from '../systems/wording.ts'
import { explain } from './reasons.ts'
import { expectedWork, type Story } from './story.ts'
import { sentence } from './words.ts'

/** Totals up to the job's end, or up to now. */
export interface Sums {
  /** From arrival to end, or to now. */
  responseMs: number
  /** In the queue. */
  waitedMs: number
  /** On a worker that had no core for it. */
  behindMs: number
  pausedMs: number
  /** Running time of the last attempt, and of the failed attempts before it. */
  ranMs: number
  lostMs: number
  /** CPU time if known, else running time, or the running time it would have had with a core to itself. */
  workMs: number | undefined
  slowdown: number | undefined
}

/** `bounded`: the workers' discipline gives each running job a core to itself. */
export function sumsOf(story: Story, bounded: boolean, now: number): Sums {
  const { ms, state, since, arrivedAt, cpuMs, work, workPerSecond } = story
  const over = state === 'over'
  const current = over ? 0 : Math.max(0, now - since)
  const of = (name: keyof Story['ms']) => thousandths(ms[name] + (name === state ? current : 0))
  const ranMs = of('running')
  const alone = work !== undefined && workPerSecond > 0 ? (work / workPerSecond) * 1000 : undefined
  const workMs = story.outcome === 'result' ? (cpuMs ?? (bounded ? ranMs : alone)) : undefined
  const responseMs = thousandths((over ? since : Math.max(now, since)) - arrivedAt)
  return {
    responseMs,
    waitedMs: of('waiting'),
    behindMs: of('behind'),
    pausedMs: of('paused'),
    ranMs,
    lostMs: of('lost'),
    workMs,
    slowdown: workMs !== undefined && workMs > 0 ? thousandths(responseMs / workMs) : undefined,
  }
}

export function summaryOf(story: Story, sums: Sums): string {
  const parts = causes(story, sums)
  const why = parts.length > 0 ? `: ${story.outcome === undefined ? 'so far it' : 'it'} ${list(parts)}` : ''
  const estimate = surprise(story)
  return sentence(`${headline(story, sums)}${why}`) + (estimate ? ` ${sentence(estimate)}` : '')
}

function headline({ outcome, endReason, state }: Story, { responseMs, workMs, ranMs }: Sums): string {
  const took = span(responseMs)
  if (outcome === undefined) return `it arrived ${took} ago and ${states[state]}`
  if (outcome === 'result') return `it took ${took} for ${span(workMs)} of work`
  const reason = endReason!
  if (outcome === 'error')
    return `it failed after ${took}, of which it ran ${span(ranMs)} (${explain(reason)})`
  if (outcome === 'cancelled') return `its client hung up after ${took}`
  if (outcome === 'unknown') return `its outcome is unknown after ${took} (${explain(reason)})`
  if (reason.code === 'deadline') return `it was rejected when its deadline passed, ${took} after it arrived`
  return `it was rejected after ${took} (${explain(reason)})`
}

const states: Readonly<Record<Story['state'], string>> = {
  waiting: 'waits in the queue',
  behind: 'waits on its worker for a core',
  running: 'runs',
  paused: 'is paused',
  over: 'is over',
}

/** Where time was spent besides the work itself. Times under 1 ms or 2 % of the total are left out. */
function causes(story: Story, sums: Sums): string[] {
  const { queued, longestWait, firstLost, lostAttempts, outcome, worker } = story
  const { responseMs, waitedMs, behindMs, pausedMs, ranMs, lostMs, workMs } = sums
  const matters = (time: number) => time >= 1 && time >= 0.02 * responseMs
  const parts: string[] = []
  const reason = queued ?? longestWait?.reason
  if (matters(waitedMs) && reason) parts.push(`waited ${span(waitedMs)} because ${inPast(reason)}`)
  if (matters(behindMs)) parts.push(`waited ${span(behindMs)} on ${worker} for a core`)
  if (matters(pausedMs)) parts.push(paused(story, pausedMs))
  if (story.turns > 0 || story.urgentFrom !== undefined) parts.push(...first(story))
  if (firstLost) parts.push(lost(firstLost, lostAttempts, lostMs))
  if (outcome === 'result') {
    if (workMs !== undefined && matters(ranMs - workMs) && ranMs > 1.1 * workMs)
      parts.push(slowed(story, ranMs - workMs))
    if (parts.length === 0) parts.push('started at once and was never paused')
  } else if (outcome !== 'error') {
    const last = lostAttempts > 0 ? 'in its last attempt ' : ''
    if (ranMs > 0)
      parts.push(`${last}${outcome ? 'had run' : 'ran'} ${span(ranMs)}${ofExpected(story, ranMs)}`)
    else if (outcome && story.attempt === 0 && waitedMs > 0) parts.push('never started')
  }
  return parts
}

/** The reason of a wait in the past tense. */
function inPast(reason: Reason): string {
  const { code, needMs } = reason
  if (code === 'all-shorter' && needMs !== undefined)
    return `no job that ran on ${openWorkers(reason)} had much more left than its ${span(needMs)}`
  if (code === 'core-soon') return 'a core was about to be free'
  if (code === 'no-room' && reason.workers === 0) return 'no worker was ready'
  if (code === 'no-room' && reason.openWorkers === 0) return 'no reachable worker had a free slot'
  return explain(reason)
}

function paused({ pauses, passedBy, onlyByShorter }: Story, ms: number): string {
  const jobs = `${count(Math.max(1, passedBy), 'job')}${onlyByShorter ? ' that needed less' : ''}`
  const often = pauses === 2 ? 'twice' : `${pauses} times`
  const time = pauses < 2 ? `for ${span(ms)}` : `${often}, ${span(ms)} in all,`
  return `was paused ${time} while ${jobs} ran in its place`
}

/** That it went first because of its wait or its deadline. */
function first({ turns, urgentFrom, arrivedAt }: Story): string[] {
  const parts: string[] = []
  const often = turns === 1 ? 'a turn' : `${turns} turns`
  if (turns > 0) parts.push(`was given ${often} before shorter jobs because of its long wait`)
  if (urgentFrom === arrivedAt) parts.push('went first from the beginning because of its deadline')
  else if (urgentFrom !== undefined)
    parts.push(`went first from ${span(urgentFrom - arrivedAt)} on because of its deadline`)
  return parts
}

function lost({ worker, reason }: NonNullable<Story['firstLost']>, attempts: number, lostMs: number): string {
  const how =
    reason.code === 'worker-lost' || reason.gone !== undefined
      ? `with worker ${worker}`
      : `on worker ${worker} (${explain(reason)})`
  if (attempts === 1) return `lost its first attempt ${how} after it had run ${span(lostMs)}`
  return `lost ${attempts} attempts, which had run ${span(lostMs)} in all, the first ${how}`
}

function slowed({ cpuMs, beside, worker }: Story, ms: number): string {
  if (cpuMs !== undefined)
    return `spent ${span(ms)} on its worker without computing (starting, reading, waiting for input or output, or while other programs had the core)`
  return `shared ${worker} with other jobs (${beside} when it started), which cost it ${span(ms)}`
}

function ofExpected({ expectedMs }: Story, ranMs: number): string {
  if (expectedMs === undefined) return ''
  const time = span(expectedMs)
  return ranMs < expectedMs ? ` of the ${time} that it was expected to need` : `, where ${time} were expected`
}

/** A sentence if the actual work was outside the estimate's interval, or off by half if it has none. */
function surprise(story: Story): string | undefined {
  const { work } = story
  const { work: expected, low = expected / 1.5, high = expected * 1.5 } = expectedWork(story)
  if (work === undefined || !(expected > 0)) return undefined
  if (work >= low && work <= high) return undefined
  return `it needed ${share(work / expected)} the work that was expected`
}

function list(parts: string[]): string {
  if (parts.length < 2) return parts.join('')
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}
