/** What the brain knows of functions. */

import { newWorkerRecord, type WorkerRecord } from '../state.ts'
import { Backlog } from './backlog.ts'
import { type OverflowOptions, type OverflowSpec, overflowSpec } from './overflow-spec.ts'

export interface Overflow {
  readonly spec: OverflowSpec
  /** Stands for all functions where an attempt has a worker. It is never ready, so no policy finds it. */
  readonly worker: WorkerRecord
  readonly backlog: Backlog
  /** When each warm, idle function became idle, the latest last. */
  readonly warm: number[]
  /** Functions get no jobs before this time. */
  notBefore: number
  /** Failures in a row. */
  failures: number
  /** Learned: how many times as long as nominal work takes in functions, and on workers. */
  pace: number
  fleetPace: number
  /** Learned: how long a cold start takes. */
  coldMs: number
  /** True: a function has become free during this event. */
  freed: boolean
  /** True: the timer for the next look at the queue is set. */
  planned: boolean
}

export function newOverflow(options: OverflowOptions): Overflow {
  const spec = overflowSpec(options)
  const { function: id, concurrency, workPerSecond } = spec
  const worker = newWorkerRecord(
    { id, cores: concurrency, workPerSecond, memoryMb: Infinity, slots: concurrency },
    { number: 0, launch: undefined, state: 'terminated', since: 0, placedAt: 0, seq: 0, placedStamp: 0 },
  )
  return {
    ...{ spec, worker, backlog: new Backlog(), warm: [], notBefore: 0, failures: 0 },
    ...{ pace: 1, fleetPace: 1, coldMs: spec.coldMs, freed: false, planned: false },
  }
}

/** True: as many jobs are in functions as may be. */
export function allBusy({ spec, worker }: Overflow): boolean {
  return worker.jobs.length >= spec.concurrency
}
