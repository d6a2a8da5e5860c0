/**
 * CloudPrime's placement. A short request goes to the worker with the fewest requests. Any other goes to the first
 * worker, in that order, that is not too busy and has few enough requests of its class. A request that fits nowhere
 * starts a worker, or waits for one.
 */

import type { Accepts } from '../../brain/jobs/eligible.ts'
import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import {
  type FleetFacts,
  hasRoom,
  passOver,
  type Scheduler,
  type SchedulerFactory,
  type SchedulerParts,
  type Verdict,
} from '../../brain/schedule/scheduler.ts'
import type { JobRecord, WorkerRecord } from '../../brain/state.ts'
import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'
import { ClassIndex } from './class-index.ts'
import {
  type ClassCounts,
  type ClassLimits,
  classLimitsOf,
  classOf,
  countClasses,
  hasPlaceFor,
  type JobClass,
} from './classes.ts'
import { Grace, type Start } from './grace.ts'

export interface ClassLimitsOptions {
  classes?: Partial<ClassLimits>
}

export const classLimits: SchedulerFactory<ClassLimitsOptions> = (parts) => new ClassLimitsScheduler(parts)

class ClassLimitsScheduler implements Scheduler {
  readonly name = 'class-limits'
  readonly patient = true
  readonly #accepts: Accepts
  readonly #fleet: FleetFacts
  readonly #limits: ClassLimits
  readonly #grace = new Grace()
  readonly #open: ClassIndex
  readonly #empty = new EmptyWorkers()
  /** Workers by their launch. */
  readonly #launched = new Map<string, WorkerRecord>()

  constructor({ accepts, fleet, spec }: SchedulerParts<ClassLimitsOptions>) {
    this.#accepts = accepts
    this.#fleet = fleet
    this.#limits = classLimitsOf(spec.classes)
    this.#open = new ClassIndex(this.#limits, (worker) => this.#reservedCounts(worker))
  }

  /** Jobs that wait for a time are behind jobs that wait for a worker. */
  rank({ job, awaits }: JobRecord): number {
    return this.#classOf(job) === 'short' ? 0 : awaits === undefined ? 2 : 1
  }

  refile(worker: WorkerRecord): void {
    this.#empty.refile(worker)
    if (worker.launch !== undefined) {
      if (worker.state === 'terminated') this.#launched.delete(worker.launch)
      else this.#launched.set(worker.launch, worker)
    }
    this.#open.refile(worker)
  }

  place(record: JobRecord, now: number): Verdict {
    const { job } = record
    const kind = this.#classOf(job)
    const start = this.#grace.startOf(job.id)
    const own = start && this.#placeStarter(record, start, now)
    if (own) return own
    const worker = this.#find(record, kind)
    if (worker) return { worker, reason: this.#fits(worker, kind) }
    if (kind === 'short') return { reason: { code: 'no-room', openWorkers: this.#open.size('short') } }
    return this.#placeMisfit(job.id, kind, now)
  }

  waits({ job, awaits }: JobRecord, { launch, again, reason }: Verdict): void {
    const kind = this.#classOf(job)
    if (kind === 'short' || again === undefined) return
    const grace = this.#grace
    const start = grace.startOf(job.id)
    if (launch) {
      if (grace.countWithout(job.id) >= this.#limits.mostQueued) grace.resetCount()
      grace.addStart({ job: job.id, kind, launch: awaits!, until: again, late: false })
    } else if (start && (reason.code === 'own-worker-late' || reason.code === 'own-worker-soon'))
      start.late ||= reason.code === 'own-worker-late'
    else grace.addQueued(job.id, again)
  }

  leaves({ job }: JobRecord): void {
    const worker = this.#launched.get(this.#grace.leave(job.id)?.launch ?? '')
    if (worker) this.#open.refile(worker)
  }

  fits(worker: WorkerRecord, { job }: JobRecord): boolean {
    if (this.#classOf(job) === 'short') return true
    const start = this.#grace.startOf(job.id)
    return start?.late === true && start.launch === worker.launch
  }

  takes(worker: WorkerRecord): Reason {
    return hasRoom(worker)
  }

  figuresOf(worker: WorkerRecord): Figures {
    const start = this.#reservation(worker)
    const keptFor = start ? { keptFor: start.job } : {}
    return { requests: worker.jobs.length, ...countClasses(worker, this.#limits), ...keptFor }
  }

  #classOf({ work }: { work: number }): JobClass {
    return classOf(work, this.#limits)
  }

  #find(record: JobRecord, kind: JobClass): WorkerRecord | undefined {
    const accepts = this.#accepts
    const worker = this.#open.find(kind, (candidate) => accepts(candidate, record), passOver)
    if (worker || this.#open.size(kind) <= passOver) return worker
    return this.#empty.first(
      record,
      (each, of) =>
        accepts(each, of) && hasPlaceFor(kind, each.cpu, this.#reservedCounts(each), this.#limits),
    )
  }

  #fits(worker: WorkerRecord, kind: JobClass): Reason {
    const counts = countClasses(worker, this.#limits)
    return { code: 'class-fits', class: kind, jobs: worker.jobs.length, ...counts }
  }

  /** The request that started this worker and is still to come. */
  #reservation({ launch }: WorkerRecord): Start | undefined {
    if (launch === undefined) return undefined
    for (const start of this.#grace.starts()) if (start.launch === launch) return start
    return undefined
  }

  /** Counts a reservation like a request, so that the other class does not take its place. */
  #reservedCounts(worker: WorkerRecord): ClassCounts {
    const counts = countClasses(worker, this.#limits)
    const start = this.#reservation(worker)
    if (start && start.kind !== 'short') counts[start.kind]++
    return counts
  }

  /** True while any worker boots, or one that a request started is in its grace period. */
  #isStarting(now: number): boolean {
    if (this.#fleet.booting() > 0) return true
    for (const { launch, until } of this.#grace.starts())
      if (now < until && this.#launched.has(launch)) return true
    return false
  }

  /** Of a request that started a worker. Undefined: the launch failed, and the request is placed like a new one. */
  #placeStarter(record: JobRecord, { launch, until }: Start, now: number): Verdict | undefined {
    const worker = this.#launched.get(launch)
    const boots = this.#fleet.isBooting(launch)
    if (now < until && (worker || boots)) return { reason: { code: 'own-worker-soon', launch }, again: until }
    if (worker && this.#accepts(worker, record)) return { worker, reason: { code: 'own-worker', launch } }
    if (boots) return { reason: { code: 'own-worker-late', launch }, again: now + this.#limits.graceMs }
    return undefined
  }

  #placeMisfit(job: string, kind: JobClass, now: number): Verdict {
    const { graceMs, mostQueued } = this.#limits
    const until = this.#grace.untilOf(job)
    const queued = this.#grace.countWithout(job)
    const facts = { class: kind, workers: this.#fleet.ready(), queued }
    if (until !== undefined && now < until)
      return { reason: { code: 'fits-nowhere', ...facts }, again: until }
    const again = now + graceMs
    if ((this.#isStarting(now) && queued < mostQueued) || this.#fleet.room() === 0)
      return { reason: { code: 'fits-nowhere', ...facts, graceMs }, again }
    const launch = { code: 'misfit', ...facts, most: mostQueued }
    return { reason: { code: 'starts-worker', ...facts, graceMs }, launch, again }
  }
}
