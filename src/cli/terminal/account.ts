/** The facts about a job in the headers of its answer. */

import { duration, significant } from './table.ts'

export interface Account {
  job: string | undefined
  worker: string | undefined
  attempts: number | undefined
  work: number | undefined
  queueMs: number | undefined
  runMs: number | undefined
}

export function accountOf(headers: Record<string, string>): Account {
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  const timing = (name: string) =>
    number(new RegExp(`(?:^|,)\\s*${name};dur=([\\d.]+)`).exec(headers['server-timing'] ?? '')?.[1])
  return {
    job: headers['plimsoll-job'],
    worker: headers['plimsoll-worker'],
    attempts: number(headers['plimsoll-attempts']),
    work: number(headers['plimsoll-work']),
    queueMs: timing('queue'),
    runMs: timing('run'),
  }
}

/** One line; unknown facts are left out. */
export function accountLine({ job, worker, attempts, work, queueMs, runMs }: Account): string {
  const parts = [
    job !== undefined && `job ${job}`,
    worker !== undefined && `worker ${worker}`,
    attempts !== undefined && `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    work !== undefined && `work ${significant(work)}`,
    queueMs !== undefined && `queue ${duration(queueMs)}`,
    runMs !== undefined && `run ${duration(runMs)}`,
  ]
  return parts.filter((part) => part !== false).join(' · ')
}
