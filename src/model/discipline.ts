/**
 * Discipline: which of a worker's jobs run now. Real workers and the simulator obey it, and the brain uses it
 * to know what a worker is doing without asking. Pure.
 */

import type { Precedence } from './job.ts'

/** What a discipline must know about a job on a worker. */
export interface Runnable {
  running: boolean
  readonly preemptible: boolean
  /**
   * Until it has done this much work it shares the cores with the jobs that are chosen by rank, since its estimate is not
   * good enough to rank it. 0: it is ranked.
   */
  readonly sharesUntil: number
  /** True: it has started and waits for input or output, so it needs no core and is never paused. */
  readonly waiting: boolean
  /** Its place in the order of jobs now: the smallest goes first. Only disciplines that rank read it. */
  rank: number
}

export const noPrecedence: Readonly<Precedence> = { tier: 0, until: 0, due: 0 }

/** Exceeds any remaining work and any time, yet is small enough that a sum with them stays exact. */
const tierStep = 1e15

/** -1: the job has its turn and goes before all others. Otherwise its tier; only tier 0 gets turns. */
export function standsIn({ tier, until }: Precedence, done: number): number {
  return done < until && tier === 0 ? -1 : tier
}

/** Jobs run in ascending order of rank. */
export function rankOf(job: Precedence, done: number, remaining: number): number {
  const stands = standsIn(job, done)
  return stands * tierStep + (stands < 0 ? job.due : remaining)
}

/**
 * The time for which a job with an unproven estimate shares the cores. After that it is known to be long, and must not keep
 * others from their share. Pausing it earlier would cost more than it gains: the next one may need a new process.
 */
const shareMs = 250

/** The work until which a job shares the cores of a worker with this rate. */
export function shareOf({ unproven }: { unproven?: true }, workPerSecond: number): number {
  return unproven ? Math.max(1, (shareMs * workPerSecond) / 1000) : 0
}

/** The work done at which the job's rank changes next. */
export function nextPoint({ reviseAt, until, sharesUntil }: Points): number {
  const point = until > 0 && until < reviseAt ? until : reviseAt
  return sharesUntil > 0 && sharesUntil < point ? sharesUntil : point
}

type Points = { reviseAt: number; until: number; sharesUntil: number }

export interface Discipline {
  readonly name: DisciplineName
  /** True: at most `cores` jobs run at a time, so each has a core to itself, unless some jobs are unproven. */
  readonly bounded: boolean
  /** True: the choice depends on remaining work, so a job that outgrows its estimate must be ranked again. */
  readonly ranks: boolean
  /** Returns the jobs that run now. `jobs` are in order of arrival, without jobs that still wait for `go`. */
  choose<J extends Runnable>(jobs: readonly J[], cores: number): readonly J[]
  /** How much of a job's remaining work a new job of size `work` has to wait for. */
  ahead(remaining: number, work: number): number
}

/** All jobs of a worker run at once, the oldest first, or the shortest first. */
export type DisciplineName = 'sharing' | 'fifo' | 'srpt'

/** The jobs of a worker that are not paused now: the choice of the discipline, and jobs that wait. */
export function unpaused<J extends Runnable>(
  discipline: Discipline,
  jobs: readonly J[],
  cores: number,
): readonly J[] {
  const waiting = jobs.filter((job) => job.waiting)
  if (waiting.length === 0) return discipline.choose(jobs, cores)
  const others = jobs.filter((job) => !job.waiting)
  return [...waiting, ...discipline.choose(others, cores)]
}

/** All jobs run and the operating system shares the cores, as with a thread per request. */
const sharing: Discipline = {
  name: 'sharing',
  bounded: false,
  ranks: false,
  ahead: (remaining, work) => Math.min(remaining, work),
  choose: (jobs) => jobs,
}

/** The oldest jobs run to completion. One that waited for input or output goes before younger ones again. */
const fifo: Discipline = {
  name: 'fifo',
  bounded: true,
  ranks: false,
  ahead: (remaining) => remaining,
  choose: (jobs, cores) => {
    if (jobs.length <= cores) return jobs
    const pinned = jobs.filter(isPinned)
    if (pinned.length === 0) return jobs.slice(0, cores)
    const others = jobs.filter((job) => !isPinned(job))
    return [...pinned, ...others.slice(0, Math.max(0, cores - pinned.length))]
  },
}

/**
 * Shortest remaining processing time: the jobs of the lowest rank run. A running job wins ties. Jobs that are not ranked
 * yet all run beside them.
 */
const srpt: Discipline = {
  name: 'srpt',
  bounded: true,
  ranks: true,
  ahead: (remaining, work) => (remaining <= work ? remaining : 0),
  choose: (jobs, cores) => {
    if (jobs.length <= cores) return jobs
    const chosen: (typeof jobs)[number][] = []
    let pinned = 0
    for (const job of jobs) if (!sharesCores(job) && isPinned(job)) chosen[pinned++] = job
    // An insertion sort of the best so far: cores are few.
    let count = pinned
    for (const job of jobs) {
      if (sharesCores(job) || isPinned(job)) continue
      if (count < cores) count++
      else if (pinned >= cores || !goesBefore(job, chosen[cores - 1]!)) continue
      let at = count - 1
      for (; at > pinned && goesBefore(job, chosen[at - 1]!); at--) chosen[at] = chosen[at - 1]!
      chosen[at] = job
    }
    for (const job of jobs) if (sharesCores(job)) chosen.push(job)
    return chosen
  },
}

/** True: it runs whatever its rank. A client that has exceeded its share loses this privilege. */
function sharesCores(job: Runnable): boolean {
  return job.sharesUntil > 0 && job.rank < tierStep
}

/** True: it runs and must not be paused. */
function isPinned(job: Runnable): boolean {
  return job.running && !job.preemptible
}

function goesBefore(job: Runnable, other: Runnable): boolean {
  return job.rank < other.rank || (job.rank === other.rank && job.running && !other.running)
}

export const disciplines: Readonly<Record<DisciplineName, Discipline>> = { sharing, fifo, srpt }
