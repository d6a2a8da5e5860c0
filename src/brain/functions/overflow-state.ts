/** What the brain remembers of functions. */

import type { Core } from '../core.ts'
import { newWorkerRecord, type WorkerRecord } from '../state.ts'
import { Backlog } from './backlog.ts'
import { type OverflowOptions, type OverflowSpec, overflowSpec } from './overflow-spec.ts'

export interface Overflow {
  readonly spec: OverflowSpec
  /** Stands for all functions where a job has a worker. Never open: no policy finds it. */
  readonly place: WorkerRecord
  readonly backlog: Backlog
  /** When those that are warm and idle fell idle, the latest last. */
  warm: number[]
  /** Nothing goes away before this; how often in a row something came to nothing. */
  notBefore: number
  failures: number
  /** Learned: how many times as long as the spec says work takes there; how long starts take. */
  pace: number
  /** The same of workers: what work of a given workload takes may be far from nominal everywhere. */
  fleetPace: number
  coldMs: number
  /** A function has become free; a look at the queue is planned. */
  freed: boolean
  planned: boolean
}

export function newOverflow(options: OverflowOptions): Overflow {
  const spec = overflowSpec(options)
  const { function: id, concurrency, workPerSecond } = spec
  const place = newWorkerRecord(
    { id, cores: concurrency, workPerSecond, memoryMb: Infinity, slots: concurrency },
    { number: 0, launch: undefined, state: 'gone', since: 0, placedAt: 0, seq: 0, placedStamp: 0 },
  )
  return {
    ...{ spec, place, backlog: new Backlog(), warm: [], notBefore: 0, failures: 0 },
    ...{ pace: 1, fleetPace: 1, coldMs: spec.coldMs, freed: false, planned: false },
  }
}

/** As many jobs are in functions as may be. */
export function allBusy({ spec, place }: Overflow): boolean {
  return place.jobs.length >= spec.concurrency
}

/** True: it stands for functions. */
export function isFunction(core: Core, worker: WorkerRecord): boolean {
  return worker === core.overflow?.place
}
