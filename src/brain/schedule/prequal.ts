/**
 * Prequal (Wydrowski and others, "Load is not what you should balance", NSDI 2024). Each job probes a few workers at
 * random; probe results are kept for a while. Workers whose requests in flight are among the highest seen lately are
 * hot. A job goes to the cold worker with the lowest latency or, if all are hot, to the one with the fewest in flight.
 * The brain can answer probes at once; their small number and their age make this equal to a balancer without a brain.
 */

import type { Random } from '../../lib/random.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { Latencies } from './latencies.ts'
import { type Probe, ProbePool } from './probes.ts'
import { hasRoom, passOver, type SchedulerFactory } from './scheduler.ts'

const probesPerJob = 3

/** Kept until the worker is terminated. */
interface Filed {
  /** Its index among the open workers, or -1. */
  at: number
  latencies: Latencies
}

export const prequal: SchedulerFactory = ({ accepts, random }) => {
  const open = new OpenList()
  const empty = new EmptyWorkers()
  const pool = new ProbePool()
  /** The requests in flight that a job found where it was sent. */
  const found = new WeakMap<JobRecord, number>()

  /** No probed worker may take the job, so that others are tried from a random one on. */
  const anyOther = (record: JobRecord): WorkerRecord | undefined =>
    open.from(random.below(open.size), (worker) => accepts(worker, record)) ??
    (open.size > passOver ? empty.first(record, accepts) : undefined)

  return {
    name: 'prequal',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      if (open.refile(worker) === 'closed') pool.forget(worker)
    },
    place(record, now) {
      if (open.size === 0) return { reason: { code: 'no-room', openWorkers: 0 } }
      pool.age(now)
      for (const worker of open.draw(probesPerJob, random)) pool.add(probeOf(worker, now))
      const best = pool.best((worker) => accepts(worker, record))
      const reason = best && reasonFor(best, pool)
      const worker = best ? best.worker : anyOther(record)
      if (best) pool.use(best, open.size, probesPerJob)
      pool.tidy()
      if (!worker) return { reason: { code: 'no-room', openWorkers: open.size } }
      found.set(record, worker.jobs.length)
      return { worker, reason: reason ?? { code: 'not-probed', jobs: worker.jobs.length } }
    },
    takes(worker, record) {
      found.set(record, worker.jobs.length)
      return hasRoom(worker)
    },
    ended(worker, record, now) {
      const before = found.get(record) ?? worker.jobs.length - 1
      filedOf(worker).latencies.add({ at: now, found: before, tookMs: now - record.attempt!.sentAt })
    },
  }
}

/** Open workers in a list from which any can be drawn or removed in constant time. */
class OpenList {
  readonly #workers: WorkerRecord[] = []

  get size(): number {
    return this.#workers.length
  }

  refile(worker: WorkerRecord): 'closed' | 'opened' | 'unchanged' {
    worker.filed ??= { at: -1, latencies: new Latencies() } satisfies Filed
    const wasOpen = filedOf(worker).at >= 0
    if (isOpen(worker) === wasOpen) return 'unchanged'
    if (!wasOpen) {
      this.#move(worker, this.size)
      return 'opened'
    }
    const last = this.#workers.pop()!
    if (last !== worker) this.#move(last, filedOf(worker).at)
    filedOf(worker).at = -1
    return 'closed'
  }

  /** Different workers at random, or all if there are no more. */
  *draw(most: number, random: Random): Generator<WorkerRecord> {
    const count = Math.min(most, this.size)
    for (let i = 0; i < count; i++) {
      // Drawn workers move to the front, so that none is drawn twice.
      const drawn = i + random.below(this.size - i)
      const worker = this.#workers[drawn]!
      this.#move(this.#workers[i]!, drawn)
      this.#move(worker, i)
      yield worker
    }
  }

  /** The first from there on for which the predicate holds, among `passOver`. */
  from(start: number, isSo: (worker: WorkerRecord) => boolean): WorkerRecord | undefined {
    const tries = Math.min(this.size, passOver)
    for (let i = 0; i < tries; i++) {
      const worker = this.#workers[(start + i) % this.size]!
      if (isSo(worker)) return worker
    }
    return undefined
  }

  #move(worker: WorkerRecord, to: number): void {
    this.#workers[to] = worker
    filedOf(worker).at = to
  }
}

function filedOf(worker: WorkerRecord): Filed {
  return worker.filed as Filed
}

function probeOf(worker: WorkerRecord, now: number): Probe {
  const inFlight = worker.jobs.length
  return { worker, inFlight, latencyMs: filedOf(worker).latencies.at(inFlight, now), at: now, uses: 0 }
}

function reasonFor({ inFlight, latencyMs }: Probe, pool: ProbePool) {
  const { hotAbove } = pool
  const code = inFlight > hotAbove ? 'least-hot' : 'soonest-of-cold'
  return { code, jobs: inFlight, latencyMs: Math.round(latencyMs), hotAbove, probes: pool.size }
}
