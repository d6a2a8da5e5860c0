/** Kept jobs as text: one line per fact, and what is left of them. */

import { styleText } from 'node:util'
import { duration, significant } from './table.ts'

/** A kept job, as the cluster describes it. */
export interface FollowedJob {
  id: string
  workload: string
  method: string
  target: string
  /** For operators only. */
  client?: string
  state: string
  acceptedAt: string
  endedAt?: string
  eta?: { earliest: string; expected: string; latest: string }
  progress?: { done: number; remaining: number }
  worker?: string
  job?: string
  waitsFor?: string
  why?: readonly string[]
  attempts?: number
  answer?: { status: number; bytes: number; isKept: boolean }
  webhook?: { state: string; tries: number; problem?: string }
  facts?: { saved?: number; job?: string }
}

/** One line per fact. `now`: milliseconds since 1970. */
export function jobText(job: FollowedJob, now: number): string {
  const { id, workload, method, target, client, state, acceptedAt, endedAt } = job
  const { progress, worker, attempts, waitsFor, why = [], answer, webhook, facts } = job
  const story = job.job ?? facts?.job
  const lines: [name: string, value: string | undefined][] = [
    ['job', id],
    ['workload', workload],
    ['request', method && `${method} ${target}`],
    ['client', client],
    ['state', worker === undefined ? state : `${state} on ${worker}`],
    ['accepted', acceptedAt],
    ['ended', endedAt],
    ['expected end', leftText(job, now)],
    ['progress', progress && progressText(progress)],
    ['attempts', attempts === undefined ? undefined : `${attempts}`],
    ['waits', waitsFor && `the cluster refused it for now: ${waitsFor}`],
    ...why.map((reason, i): [string, string] => [i === 0 ? 'why' : '', reason]),
    [
      'answer',
      answer && `status ${answer.status}, ${answer.bytes} bytes${answer.isKept ? '' : ', not kept any more'}`,
    ],
    ['saved', facts?.saved === undefined ? undefined : `${significant(facts.saved)} units of work`],
    ['webhook', webhook && webhookText(webhook)],
    ['story', story === undefined ? undefined : `plimsoll why ${story}`],
  ]
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${styleText('dim', name.padEnd(12))}  ${value}`)
    .join('\n')
}

/** When the job is expected to end. Undefined: the job has ended, or nothing is known. */
export function leftText({ state, eta }: FollowedJob, now: number): string | undefined {
  if (state === 'answered' || state === 'cancelled' || !eta) return undefined
  const left = (time: string) => Date.parse(time) - now
  const text = (time: string) => duration(Math.max(0, left(time)))
  if (left(eta.expected) > 0) return `in ${text(eta.expected)} (${text(eta.earliest)} to ${text(eta.latest)})`
  // The clocks of the cluster and of this machine differ, or the text is old.
  return left(eta.latest) < 0 ? `overdue by ${duration(-left(eta.latest))}` : `within ${text(eta.latest)}`
}

export function progressText({ done, remaining }: { done: number; remaining: number }): string {
  const all = done + remaining
  return all > 0 ? `${Math.floor((done / all) * 100)} % of the work` : 'none yet'
}

function webhookText({ state, tries, problem }: NonNullable<FollowedJob['webhook']>): string {
  const count = tries === 0 ? '' : ` after ${tries} ${tries === 1 ? 'try' : 'tries'}`
  return `${state}${count}${problem === undefined ? '' : `: ${problem}`}`
}
