/**
 * Weighted round robin with passive health checks, as proxies do it. A worker's share of the jobs is proportional to its
 * cores, and its turns are spread evenly. A worker at which attempts failed rests: it gets jobs only if no other
 * worker can take them.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { WorkerRecord } from '../state.ts'
import { OpenWorkers } from './open-workers.ts'
import { hasRoom, type SchedulerFactory } from './scheduler.ts'

export interface PassiveChecks {
  /** A worker rests after this many failed attempts within `failMs`; 0: it never rests. Default: 1. */
  maxFails?: number
  /** The time in which failures are counted, and for which a worker then rests. Default: 10 s. */
  failMs?: number
}

/** What the policy knows of a worker. */
interface Turns {
  /** The middle of its next turn in virtual time; a turn takes 1 / cores of it. So small workers do not all go first. */
  next: number
  fails: number
  /** When the first of these failures happened. */
  failedAt: number
  restsUntil: number
}

export const weightedRoundRobin: SchedulerFactory<PassiveChecks> = ({ accepts, spec }) => {
  const { maxFails, failMs } = checked(spec)
  const turns = new WeakMap<WorkerRecord, Turns>()
  /** The virtual time of the last turn. A worker that was passed over does not make up for it. */
  let clock = 0
  const turnsOf = (worker: WorkerRecord): Turns => {
    const known = turns.get(worker) ?? {
      next: clock + 0.5 / worker.cores,
      fails: 0,
      failedAt: 0,
      restsUntil: 0,
    }
    turns.set(worker, known)
    return known
  }
  const open = new OpenWorkers((worker) => turnsOf(worker).next)

  const takeTurn = (worker: WorkerRecord): void => {
    const its = turnsOf(worker)
    clock = Math.max(its.next, clock)
    its.next = clock + 1 / worker.cores
  }

  return {
    name: 'weighted-round-robin',
    rank: () => 0,
    refile: (worker) => open.refile(worker),
    place(record, now) {
      const rested = (worker: WorkerRecord) => turnsOf(worker).restsUntil <= now
      const worker =
        open.first((each) => rested(each) && accepts(each, record)) ?? open.firstFor(record, accepts)
      if (!worker) return { reason: { code: 'no-room', openWorkers: open.size } }
      takeTurn(worker)
      const code = rested(worker) ? 'next-in-turn' : 'all-rest'
      return { worker, reason: { code, jobs: worker.jobs.length } }
    },
    takes(worker) {
      takeTurn(worker)
      return hasRoom(worker)
    },
    failed(worker, _, now) {
      const its = turnsOf(worker)
      if (now - its.failedAt >= failMs) its.fails = 0
      if (its.fails === 0) its.failedAt = now
      its.fails++
      if (maxFails > 0 && its.fails >= maxFails) its.restsUntil = now + failMs
    },
  }
}

function checked({ maxFails = 1, failMs = 10_000 }: PassiveChecks): Required<PassiveChecks> {
  if (!(Number.isInteger(maxFails) && maxFails >= 0))
    throw new ConfigError(`placing.maxFails = ${maxFails}: must be a whole number, 0 or more`)
  if (!(failMs >= 0 && failMs < Infinity))
    throw new ConfigError(`placing.failMs = ${failMs}: must be a number, 0 or more`)
  return { maxFails, failMs }
}
