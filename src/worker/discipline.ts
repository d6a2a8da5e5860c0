/**
 * Discipline: which of a worker's jobs run now. Real workers and the simulator obey it, and the brain uses it
 * to know what a worker is doing without asking. Pure.
 */

/** What a discipline must know of a job in a worker's hands. */
export interface Runnable {
  running: boolean
  readonly preemptible: boolean
}

export interface Discipline {
  readonly name: DisciplineName
  /** True: at most `cores` jobs run at a time, so each has a core to itself. */
  readonly bounded: boolean
  /** True: the choice depends on remaining work, so a job that outgrows its estimate must be ranked anew. */
  readonly ranks: boolean
  /** The jobs that run. `jobs` are in order of arrival; a job without permission to start is not among them. */
  choose<J extends Runnable>(jobs: readonly J[], cores: number, remaining: (job: J) => number): readonly J[]
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

/** The jobs with the least remaining work run; a running job goes before an equal one that waits. */
const srpt: Discipline = {
  name: 'srpt',
  bounded: true,
  ranks: true,
  ahead: (remaining, work) => (remaining <= work ? remaining : 0),
  choose: (jobs, cores, remaining) => {
    if (jobs.length <= cores) return jobs
    const chosen = jobs.filter((job) => job.running && !job.preemptible)
    const pinned = chosen.length
    if (pinned >= cores) return chosen
    // The best so far stay in order, each with what it has left: cores are few, so insertion is quick.
    const lefts: number[] = new Array(pinned).fill(0)
    for (const job of jobs) {
      const { running } = job
      if (running && !job.preemptible) continue
      const left = remaining(job)
      let at = chosen.length
      if (at === cores && !goesBefore(left, running, lefts[--at]!, chosen[at]!.running)) continue
      for (; at > pinned && goesBefore(left, running, lefts[at - 1]!, chosen[at - 1]!.running); at--) {
        chosen[at] = chosen[at - 1]!
        lefts[at] = lefts[at - 1]!
      }
      chosen[at] = job
      lefts[at] = left
    }
    return chosen
  },
}

function goesBefore(left: number, running: boolean, otherLeft: number, otherRunning: boolean): boolean {
  return left < otherLeft || (left === otherLeft && running && !otherRunning)
}

export const disciplines: Readonly<Record<DisciplineName, Discipline>> = { sharing, fifo, srpt }
