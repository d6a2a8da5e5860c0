/** The brain's state to JSON and back. A restored brain decides exactly as the saved one would have. */

import { ConfigError } from '../lib/errors.ts'
import type { Entry } from '../lib/heap.ts'
import type { Counters } from '../model/view.ts'
import type { Core } from './core.ts'
import { loadOverflow, type SavedOverflow, saveOverflow } from './functions/overflow-state.ts'
import type { SavedBuckets } from './jobs/rate-limit.ts'
import type { SavedShare } from './jobs/shares.ts'
import { isOfJob, type JobRecord, newJobRecord, type Timer, type WorkerRecord } from './state.ts'
import type { SavedOccupancy } from './workers/occupancy.ts'
import { loadListing, type SavedListing, saveListing } from './workers/reconcile.ts'
import { comeThrough } from './workers/roles.ts'
import { count } from './workers/workers.ts'

const version = 3

type SavedJob = Omit<
  JobRecord,
  'worker' | 'excluded' | 'queued' | 'deadline' | 'slack' | 'patience' | 'age' | 'waited' | 'away' | 'answer'
> & {
  worker: string | null
  excluded: string[] | null
  waits: boolean
}
type SavedWorker = Omit<WorkerRecord, 'jobs' | 'silence' | 'filed'> & { jobs: string[] }

export interface BrainSnapshot {
  version: number
  scheduler: { name: string; state: unknown }
  scaler: { name: string; state: unknown }
  discipline: string
  epoch: number
  jobs: SavedJob[]
  workers: SavedWorker[]
  /** In the order in which they were told to drain. */
  draining: string[]
  launches: { id: string; at: number }[]
  /** In order of time; the order among equals is kept. */
  timers: { at: number; tie: number; timer: Timer }[]
  counters: Counters
  rateLimits?: SavedBuckets
  shares?: SavedShare[]
  overflow?: SavedOverflow
  seqs: Core['seqs']
  launchFailures: number
  launchNotBefore: number
  listing: SavedListing
  fastest: number
  coresEach: number
  occupancy: SavedOccupancy
  /** How long the last launches took to join. */
  boots: number[]
  turnsFrom: number
  wakeAt: number | null
  now: number
}

export function saveCore(core: Core): BrainSnapshot {
  const jobs = [...core.jobs.values()].map(
    ({
      worker,
      excluded,
      queued,
      deadline: _,
      slack: __,
      patience: ___,
      age: ____,
      waited: _____,
      away: ______,
      answer: _______,
      ...record
    }) => ({
      ...record,
      worker: worker?.id ?? null,
      excluded: excluded ? [...excluded] : null,
      waits: queued !== undefined,
    }),
  )
  const workers = [...core.workers.values()].map(({ silence: _, filed: __, ...worker }) => ({
    ...worker,
    jobs: worker.jobs.map((record) => record.job.id),
  }))
  return structuredClone({
    version,
    scheduler: { name: core.scheduler.name, state: core.scheduler.save() },
    scaler: { name: core.scaler.name, state: core.scaler.save() },
    discipline: core.discipline.name,
    epoch: core.epoch,
    jobs,
    workers,
    draining: [...core.draining].map((worker) => worker.id),
    launches: [...core.launches.values()].map(({ id, at }) => ({ id, at })),
    timers: [...core.timers.entries()].map(({ item, key, tie }) => ({ at: key, tie, timer: item })),
    counters: core.counters,
    ...(core.shares && { shares: core.shares.save() }),
    ...(core.rateLimits && { rateLimits: core.rateLimits.save() }),
    ...(core.overflow && { overflow: saveOverflow(core.overflow) }),
    seqs: core.seqs,
    launchFailures: core.launchFailures,
    launchNotBefore: core.launchNotBefore,
    listing: saveListing(core.listing),
    fastest: core.fastest,
    coresEach: core.coresEach,
    occupancy: core.occupancy.save(),
    boots: core.boots.save(),
    turnsFrom: core.turnsFrom,
    wakeAt: core.wakeAt === Infinity ? null : core.wakeAt,
    now: core.now,
  })
}

export function restoreCore(core: Core, saved: BrainSnapshot): void {
  check('version', saved.version, version)
  check('scheduler', saved.scheduler.name, core.scheduler.name)
  check('scaler', saved.scaler.name, core.scaler.name)
  check('discipline', saved.discipline, core.discipline.name)
  check('epoch', saved.epoch, core.epoch)
  const { jobs, workers, launches, timers, counters, seqs } = structuredClone(saved)
  Object.assign(core.counters, counters)
  core.seqs = seqs
  core.launchFailures = saved.launchFailures
  core.launchNotBefore = saved.launchNotBefore
  core.listing = loadListing(saved.listing)
  core.fastest = saved.fastest
  core.coresEach = saved.coresEach
  core.occupancy.load(saved.occupancy)
  core.boots.load(saved.boots)
  core.turnsFrom = saved.turnsFrom
  core.wakeAt = saved.wakeAt ?? Infinity
  core.now = saved.now
  for (const { jobs: _, ...worker } of workers) {
    core.workers.set(worker.id, { ...worker, jobs: [], silence: undefined, filed: undefined })
    if (worker.state === 'ready') count(core, core.workers.get(worker.id)!, 1)
  }
  for (const id of saved.draining) core.draining.add(core.workers.get(id)!)
  if (saved.shares) core.shares?.load(saved.shares)
  for (const { worker, excluded, waits, ...fields } of jobs) {
    const record: JobRecord = Object.assign(newJobRecord(fields.job, fields.seq, fields.arrivedAt), fields)
    if (worker !== null) record.worker = core.workers.get(worker) ?? core.overflow?.place
    if (excluded) record.excluded = new Set(excluded)
    core.jobs.set(record.job.id, record)
    if (record.job.front !== undefined) comeThrough(core, record.job.front)
    core.shares?.clients.get(record.client)?.jobs.add(record)
    if (record.job.deadlineAt !== undefined) core.deadlines.add(record)
    if (record.turn === 'taken') core.turns++
    if (record.turn === 'owed') core.owed.push(record, record.due, record.seq)
    if (waits) core.waiting.add(record, core.scheduler.rank(record))
  }
  for (const { id: worker, jobs: held } of workers) {
    core.workers.get(worker)!.jobs = held.map((id) => core.jobs.get(id)!)
  }
  if (saved.overflow) loadOverflow(core, structuredClone(saved.overflow))
  const boots = new Map<string, Entry<Timer>>()
  for (const { at, tie, timer } of timers) {
    const entry = core.timers.push(timer, at, tie)
    if (isOfJob(timer.kind)) core.jobs.get(timer.id)![timer.kind] = entry
    if (timer.kind === 'share' && core.shares) core.shares.planned = true
    if (timer.kind === 'overflow' && core.overflow) core.overflow.planned = true
    if (timer.kind === 'silence') core.workers.get(timer.id)!.silence = entry
    if (timer.kind === 'launch') boots.set(timer.id, entry)
  }
  for (const { id, at } of launches) core.launches.set(id, { id, at, timer: boots.get(id)! })
  for (const worker of core.workers.values()) core.scheduler.refile(worker)
  core.scheduler.load(saved.scheduler.state, (id) => core.workers.get(id)!)
  core.scaler.load(saved.scaler.state)
  if (saved.rateLimits) core.rateLimits?.load(saved.rateLimits)
}

function check(what: string, saved: string | number, mine: string | number): void {
  if (saved !== mine) throw new ConfigError(`snapshot ${what} = ${saved}: this brain has ${mine}`)
}
