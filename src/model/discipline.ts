/**
 * Discipline: which of a worker's jobs run now. Real workers and the simulator obey it, and the brain uses it
 * to know what a worker is doing without asking. Pure.
 */

import type { Precedence } from './job.ts'

/** What a discipline must know of a job in a worker's hands. */
export interface Runnable {
  running: boolean
  readonly preemptible: boolean
  /** Its place in the order of jobs now: the smallest goes first. Only disciplines that rank read it. */
  rank: number
}

export const noPrecedence: Readonly<Precedence> = { tier: 0, until: 0, due: 0 }

/** More than any work that is left, or any time; less than loses track of them in a sum. */
const tierStep = 1e15

/** Whether it goes before all others (-1), or in which tier it goes: who has had more than its share never goes first. */
export function standsIn({ tier, until }: Precedence, done: number): number {
  return done < until && tier === 0 ? -1 : tier
}

/** The order in which jobs run: the smallest first. */
export function rankOf(job: Precedence, done: number, remaining: number): number {
  const stands = standsIn(job, done)
  return stands * tierStep + (stands < 0 ? job.due : remaining)
}

/** How much a job will have done when its place among the others changes. */
export function nextPoint({ reviseAt, until }: { reviseAt: number; until: number }): number {
  return until > 0 && until < reviseAt ? until : reviseAt
}

export interface Discipline {
  readonly name: DisciplineName
  /** True: at most `cores` jobs run at a time, so each has a core to itself. */
  readonly bounded: boolean
  /** True: the choice depends on remaining work, so a job that outgrows its estimate must be ranked anew. */
  readonly ranks: boolean
  /** The jobs that run. `jobs` are in order of arrival; a job without permission to start is not among them. */
  choose<J extends Runnable>(jobs: readonly J[], cores: number): readonly J[]
  /** How much of a job's remaining work is done before, or instead of, `work` that comes now. */
  ahead(remaining: number, work: number): number
}

export type DisciplineName = 'sharing' | 'fifo' | 'srpt'

/** All run; the operating system shares the cores. A thread per request behaves so. */
const sharing: Discipline = {
  name: 'sharing',
  bounded: false,
  ranks: false,
  ahead: (remaining, work) => Math.min(remaining, work),
  choose: (jobs) => jobs,
}

/** The oldest run to their end. */
const fifo: Discipline = {
  name: 'fifo',
  bounded: true,
  ranks: false,
  ahead: (remaining) => remaining,
  choose: (jobs, cores) => (jobs.length <= cores ? jobs : jobs.slice(0, cores)),
}

/** The jobs of the smallest rank run, so those with the least remaining work; a running one goes before its equal. */
const srpt: Discipline = {
  name: 'srpt',
  bounded: true,
  ranks: true,
  ahead: (remaining, work) => (remaining <= work ? remaining : 0),
  choose: (jobs, cores) => {
    if (jobs.length <= cores) return jobs
    const chosen: (typeof jobs)[number][] = new Array(cores)
    let pinned = 0
    for (const job of jobs) if (isPinned(job)) chosen[pinned++] = job
    // The best so far stay in order: cores are few, so insertion is quick.
    let count = pinned
    for (const job of jobs) {
      if (isPinned(job)) continue
      if (count < cores) count++
      else if (pinned >= cores || !goesBefore(job, chosen[cores - 1]!)) continue
      let at = count - 1
      for (; at > pinned && goesBefore(job, chosen[at - 1]!); at--) chosen[at] = chosen[at - 1]!
      chosen[at] = job
    }
    return chosen
  },
}

/** True: it runs and must not be paused. */
function isPinned(job: Runnable): boolean {
  return job.running && !job.preemptible
}

function goesBefore(job: Runnable, other: Runnable): boolean {
  return job.rank < other.rank || (job.rank === other.rank && job.running && !other.running)
}

export const disciplines: Readonly<Record<DisciplineName, Discipline>> = { sharing, fifo, srpt }
