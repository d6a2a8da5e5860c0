/**
 * Prequal (Wydrowski and others, "Load is not what you should balance", NSDI 2024): each job has a few workers probed
 * at random, what probes said is kept for a while, and the job goes by that: among workers that are not hot, those
 * whose requests in flight are not among the most seen lately, to the one that answers soonest; where all are hot, to
 * the one with the fewest in flight. The brain knows what a probe would ask, so probes are answered at once; it is
 * their age and their small number that make this what a balancer without a brain could do.
 */

import { isOpen, type JobRecord, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { type Answered, Latencies } from './latencies.ts'
import { type Probe, ProbePool, type SavedProbe } from './probes.ts'
import { passOver, type SchedulerFactory } from './scheduler.ts'

/** How many workers are probed for each job. */
const probesPerJob = 3

/** What is remembered of a worker until it is gone. */
interface Filed {
  /** Its place among the open ones, or -1. */
  at: number
  latencies: Latencies
}

interface Saved {
  order: string[]
  random: number[]
  pool: { probes: SavedProbe[]; seen: number[]; oldestNext: boolean }
  /** What was seen of each worker, and the requests in flight that each of its jobs found there. */
  workers: { id: string; latencies: Answered[]; found: number[] }[]
}

export const prequal: SchedulerFactory = ({ accepts, random }) => {
  const open: WorkerRecord[] = []
  const known = new Set<WorkerRecord>()
  const empty = new EmptyWorkers()
  const pool = new ProbePool()
  /** The requests in flight that a job found where it was sent. */
  const found = new WeakMap<JobRecord, number>()

  const filedOf = (worker: WorkerRecord) => worker.filed as Filed
  const move = (worker: WorkerRecord, to: number) => {
    open[to] = worker
    filedOf(worker).at = to
  }
  const close = (worker: WorkerRecord) => {
    const last = open.pop()!
    if (last !== worker) move(last, filedOf(worker).at)
    filedOf(worker).at = -1
    pool.forget(worker)
  }
  /** Different workers: a few of many, or all of a few. */
  const probe = (now: number) => {
    const count = Math.min(probesPerJob, open.length)
    for (let i = 0; i < count; i++) {
      // Those drawn are moved to the front, so that none is drawn twice.
      const drawn = i + random.below(open.length - i)
      const worker = open[drawn]!
      move(open[i]!, drawn)
      move(worker, i)
      const inFlight = worker.jobs.length
      pool.add({ worker, inFlight, latencyMs: filedOf(worker).latencies.at(inFlight, now), at: now, uses: 0 })
    }
  }
  /** The draw was unlucky: go on from it, so that a job does not wait beside a worker with room. */
  const anyOther = (record: JobRecord): WorkerRecord | undefined => {
    const tries = Math.min(open.length, passOver)
    const start = random.below(open.length)
    for (let i = 0; i < tries; i++) {
      const worker = open[(start + i) % open.length]!
      if (accepts(worker, record)) return worker
    }
    return open.length > passOver ? empty.first(record, accepts) : undefined
  }

  return {
    name: 'prequal',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      worker.filed ??= { at: -1, latencies: new Latencies() } satisfies Filed
      const wasOpen = filedOf(worker).at >= 0
      if (isOpen(worker) && !wasOpen) move(worker, open.length)
      else if (!isOpen(worker) && wasOpen) close(worker)
      if (worker.state === 'terminated') known.delete(worker)
      else known.add(worker)
    },
    place(record, now) {
      if (open.length === 0) return { reason: { code: 'no-room', openWorkers: 0 } }
      pool.age(now)
      probe(now)
      const best = pool.best((worker) => accepts(worker, record))
      const reason = best && reasonFor(best, pool)
      const worker = best ? best.worker : anyOther(record)
      if (best) pool.use(best, open.length, probesPerJob)
      pool.tidy()
      if (!worker) return { reason: { code: 'no-room', openWorkers: open.length } }
      found.set(record, worker.jobs.length)
      return { worker, reason: reason ?? { code: 'not-probed', jobs: worker.jobs.length } }
    },
    takes(worker, record) {
      found.set(record, worker.jobs.length)
      return { code: 'room', jobs: worker.jobs.length, slots: worker.slots }
    },
    ended(worker, record, now) {
      const before = found.get(record) ?? worker.jobs.length - 1
      filedOf(worker).latencies.add({ at: now, found: before, tookMs: now - record.attempt!.sentAt })
    },
    save: (): Saved => ({
      order: open.map(({ id }) => id),
      random: random.save(),
      pool: pool.save(),
      workers: [...known].map((worker) => ({
        id: worker.id,
        latencies: filedOf(worker).latencies.save(),
        found: worker.jobs.map(({ record }) => found.get(record) ?? -1),
      })),
    }),
    load(saved, workerById) {
      const { order, random: state, pool: probes, workers } = saved as Saved
      open.length = 0
      for (const id of order) move(workerById(id), open.length)
      random.load(state)
      pool.load(probes, workerById)
      for (const { id, latencies, found: before } of workers) {
        const worker = workerById(id)
        filedOf(worker).latencies.load(latencies)
        for (const [i, { record }] of worker.jobs.entries())
          if (before[i]! >= 0) found.set(record, before[i]!)
      }
    },
  }
}

function reasonFor({ inFlight, latencyMs }: Probe, pool: ProbePool) {
  const { hotAbove } = pool
  const code = inFlight > hotAbove ? 'least-hot' : 'soonest-of-cold'
  return { code, jobs: inFlight, latencyMs: Math.round(latencyMs), hotAbove, probes: pool.size }
}
