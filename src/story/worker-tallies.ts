/** The state of workers that stories need: how many are ready, and how many jobs each holds. */

import type { Action } from '../model/action.ts'
import type { WorkerFacts } from '../model/worker.ts'
import type { Entry, Story, WorkerTally } from './story.ts'

/** Limit of remembered broken connections per worker. */
const mostBroken = 100

export class WorkerTallies {
  readonly #tallies = new Map<string, WorkerTally>()
  ready = 0
  /** Sum of the rates of all ready workers. */
  #workPerSecond = 0

  of(worker: string): WorkerTally | undefined {
    return this.#tallies.get(worker)
  }

  /** Running time of the given work on an average ready worker; undefined if none is ready. */
  msFor(work: number): number | undefined {
    return this.ready > 0 ? ((work * this.ready) / this.#workPerSecond) * 1000 : undefined
  }

  joined({ id, workPerSecond }: WorkerFacts): void {
    if (this.#tallies.has(id)) return
    this.#tallies.set(id, {
      workPerSecond,
      held: 0,
      idle: 0,
      preempted: new Set(),
      ready: true,
      brokenConnections: [],
    })
    this.ready++
    this.#workPerSecond += workPerSecond
  }

  /** The worker drains or is terminated. */
  leaves({ type, worker, reason }: Extract<Action, { type: 'drain' | 'terminate' }>): void {
    const tally = this.#tallies.get(worker)
    if (tally?.ready) {
      tally.ready = false
      this.ready--
      this.#workPerSecond -= tally.workPerSecond
    }
    if (type !== 'terminate') return
    for (const entry of tally?.brokenConnections ?? []) entry.reason.gone = reason.message ?? ''
    this.#tallies.delete(worker)
  }

  /** An attempt failed because the connection to its worker broke. */
  connectionBroke(worker: string, entry: Entry): void {
    const broken = this.#tallies.get(worker)?.brokenConnections
    if (broken && broken.length < mostBroken) broken.push(entry)
  }
}

/** Counts a job that runs, or (-1) does not run after all, in place of those preempted at `since` or later. */
export function countPassing(tally: WorkerTally | undefined, by: 1 | -1, since = -Infinity): void {
  if (tally) for (const paused of tally.preempted) if (paused.since >= since) paused.passedBy += by
}

/** The job is no longer on its worker. */
export function leaveWorker(story: Story): void {
  const { tally } = story
  if (!tally) return
  tally.held--
  if (story.state === 'paused' || story.state === 'behind') tally.idle--
  tally.preempted.delete(story)
  story.tally = undefined
}
