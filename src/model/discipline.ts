/**
 * Discipline: which of a worker's jobs run now. Real workers and the simulator obey it, and the brain uses it
 * to know what a worker is doing without asking. Pure.
 */

import type { Precedence } from './job.ts'

/** What a discipline must know about a job on a worker. */
export interface Runnable {
  running: boolean
  readonly preemptible: boolean
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

/** The work done at which the job's rank changes next. */
export function nextPoint({ reviseAt, until }: { reviseAt: number; until: number }): number {
  return until > 0 && until < reviseAt ? until : reviseAt
}

export interface Discipline {
  readonly name: DisciplineName
  /** True: at most `cores` jobs run at a time, so each has a core to itself. */
  readonly bounded: boolean
  /** True: the choice depends on remaining work, so a job that outgrows its estimate must be ranked again. */
  readonly ranks: boolean
  /** Returns the jobs that run now. `jobs` are in order of arrival, without jobs that still wait for `go`. */
  choose<J extends Runnable>(jobs: readonly J[], cores: number, rank: (job: J) => number): readonly J[]
  /** How much of a job's remaining work a new job of size `work` has to wait for. */
  ahead(remaining: number, work: number): number
}

export type DisciplineName = 'sharing' | 'fifo' | 'srpt'

/** All jobs run and the operating system shares the cores, as with a thread per request. */
const sharing: Discipline = {
  name: 'sharing',
  bounded: false,
  ranks: false,
  ahead: (remaining, work) => Math.min(remaining, work),
  choose: (jobs) => jobs,
}

/** The oldest jobs run to completion. */
const fifo: Discipline = {
  name: 'fifo',
  bounded: true,
  ranks: false,
  ahead: (remaining) => remaining,
  choose: (jobs, cores) => (jobs.length <= cores ? jobs : jobs.slice(0, cores)),
}

/** Shortest remaining processing time: the jobs of the lowest rank run. A running job wins ties. */
const srpt: Discipline = {
  name: 'srpt',
  bounded: true,
  ranks: true,
  ahead: (remaining, work) => (remaining <= work ? remaining : 0),
  choose: (jobs, cores, rank) => {
    if (jobs.length <= cores) return jobs
    const chosen = jobs.filter((job) => job.running && !job.preemptible)
    const pinned = chosen.length
    if (pinned >= cores) return chosen
    // An insertion sort of the best so far: cores are few.
    const ranks: number[] = new Array(pinned).fill(0)
    for (const job of jobs) {
      const { running } = job
      if (running && !job.preemptible) continue
      const own = rank(job)
      let at = chosen.length
      if (at === cores && !goesBefore(own, running, ranks[--at]!, chosen[at]!.running)) continue
      for (; at > pinned && goesBefore(own, running, ranks[at - 1]!, chosen[at - 1]!.running); at--) {
        chosen[at] = chosen[at - 1]!
        ranks[at] = ranks[at - 1]!
      }
      chosen[at] = job
      ranks[at] = own
    }
    return chosen
  },
}

function goesBefore(rank: number, running: boolean, otherRank: number, otherRunning: boolean): boolean {
  return rank < otherRank || (rank === otherRank && running && !otherRunning)
}

export const disciplines: Readonly<Record<DisciplineName, Discipline>> = { sharing, fifo, srpt }
