/**
 * A worker in virtual time: jobs, cores, a rate and a discipline. All running jobs advance equally, so one number, the
 * work that each has done since the worker was last empty, gives the progress of all.
 */

import { takeOut } from '../brain/state.ts'
import { Heap } from '../lib/heap.ts'
import { type Discipline, nextPoint, rankOf, unpaused } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import { expectationAfter } from '../model/revision.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { type Happening, rank, type VirtualClock } from './clock.ts'
import type { SimJob } from './sim-job.ts'
import { SimSlots, type SlotStart } from './sim-slots.ts'

/** What a simulated worker reports to the process around it. */
export interface SimWorkerEvents {
  finished(job: SimJob): void
  /** The job's rank changes after this much work. */
  overran(job: SimJob, done: number): void
  /** The job, which has done this much, starts or ceases to wait for input or output. */
  waited(job: SimJob, done: number): void
  /** The number of cores that run a job changes. */
  busied(change: number): void
}

export class SimWorker {
  readonly jobs: SimJob[] = []
  readonly facts: WorkerFacts
  /** True: it did not always work at its normal speed. */
  wasSlow = false
  /** Undefined: slots start at no cost. */
  readonly slots: SimSlots | undefined
  readonly #discipline: Discipline
  readonly #clock: VirtualClock
  readonly #events: SimWorkerEvents
  readonly #ends = new Heap<SimJob>()
  readonly #due: Happening
  #each = 0
  /** Time that each of the running jobs had a core. */
  #eachActive = 0
  #activeShare = 0
  #at = 0
  #share = 0
  #speed = 1
  #tie = 0
  #busy = 0
  #waiting = 0
  /** Jobs that have not waited yet. */
  #willWait = 0
  #ended = false

  constructor(
    facts: WorkerFacts,
    discipline: Discipline,
    clock: VirtualClock,
    events: SimWorkerEvents,
    start?: SlotStart,
  ) {
    this.facts = facts
    this.slots = start && new SimSlots(start)
    this.#discipline = discipline
    this.#clock = clock
    this.#events = events
    this.#due = { item: () => this.#happen(), at: -1 }
  }

  add(job: SimJob): void {
    this.#advance()
    if (this.slots?.take(this.jobs.length, this.#at)) this.#startSlot(job, this.slots)
    this.jobs.push(job)
    if (job.waitAt < Infinity) this.#willWait++
    if (this.#discipline.bounded) this.#choose()
    else this.#start(job)
    this.#plan()
  }

  /** Idempotent: ignores a job that is not on this worker. */
  remove(job: SimJob): void {
    if (!this.jobs.includes(job)) return
    this.#advance()
    takeOut(this.jobs, job)
    if (job.waitAt < Infinity) this.#willWait--
    if (job.waiting) this.#endWait(job)
    else if (job.running) this.#pause(job)
    if (this.#discipline.bounded) this.#choose()
    this.#plan()
  }

  /** The job may be on this worker already, or not yet. */
  rank(job: SimJob, { tier, until, due }: Precedence): void {
    this.#advance()
    job.tier = tier
    job.until = until
    job.due = due
    if (this.#discipline.bounded) this.#choose()
    this.#plan()
  }

  /** Work that a job has done by now, rounded up to whole units, so that a job at a bound counts as having reached it. */
  doneBy(job: SimJob): number {
    this.#advance()
    return Math.max(0, Math.ceil(job.running && !job.waiting ? job.base + this.#each : job.done))
  }

  /** Time that the job had a core so far, or its part of one. */
  activeBy(job: SimJob): number {
    this.#advance()
    return Math.max(0, job.running && !job.waiting ? job.activeBase + this.#eachActive : job.active)
  }

  /** 1 is normal, 0.1 a tenfold slowdown, 0 a stop. */
  setSpeed(speed: number): void {
    this.#advance()
    if (speed < 1) this.wasSlow = true
    this.#speed = speed
    this.#plan()
  }

  get bounded(): boolean {
    return this.#discipline.bounded
  }

  get speed(): number {
    return this.#speed
  }

  /** Cancels everything that the worker has scheduled. */
  end(): void {
    this.#ended = true
    for (const job of this.jobs) if (job.waiting) this.#endWait(job)
    this.jobs.length = 0
    this.#plan()
  }

  /** The start comes first: work and time that do not count. */
  #startSlot(job: SimJob, { startMs }: SimSlots): void {
    job.done = (-startMs * this.facts.workPerSecond) / 1000
    job.active = -startMs
  }

  #advance(): void {
    const { now } = this.#clock
    this.#each += (now - this.#at) * this.#share
    this.#eachActive += (now - this.#at) * this.#activeShare
    this.#at = now
    // A reset whenever the worker is empty keeps the sums small, and so exact.
    if (this.#ends.size === 0) this.#each = this.#eachActive = 0
  }

  #choose(): void {
    const { jobs } = this
    if (jobs.length - this.#waiting <= this.facts.cores) {
      for (const job of jobs) if (!job.running) this.#start(job)
      return
    }
    const each = this.#each
    for (const job of jobs) {
      const done = job.running && !job.waiting ? job.base + each : job.done
      job.rank = rankOf(job, done, Math.max(0, job.expected - done))
    }
    const chosen = unpaused(this.#discipline, jobs, this.facts.cores)
    for (const job of jobs) if (job.running && !chosen.includes(job)) this.#pause(job)
    for (const job of chosen) if (!job.running) this.#start(job)
  }

  #start(job: SimJob): void {
    job.running = true
    job.base = job.done - this.#each
    job.activeBase = job.active - this.#eachActive
    this.#ends.put(job.place, job.size - job.base, ++this.#tie)
  }

  #pause(job: SimJob): void {
    job.running = false
    job.done = job.base + this.#each
    job.active = job.activeBase + this.#eachActive
    this.#ends.remove(job.place)
  }

  /** The job waits for input or output: it gives up its core. */
  #wait(job: SimJob): void {
    job.done = job.waitAt
    job.active = job.activeBase + this.#eachActive
    job.waitAt = Infinity
    this.#willWait--
    job.waiting = true
    this.#waiting++
    this.#ends.remove(job.place)
    job.wake = this.#clock.at(this.#clock.now + job.truth.wait!.ms, rank.worker, () => {
      this.#advance()
      this.#endWait(job)
      this.#rechoose(job)
    })
    this.#rechoose(job)
  }

  #endWait(job: SimJob): void {
    this.#clock.cancel(job.wake!)
    job.waiting = false
    job.running = false
    this.#waiting--
  }

  #rechoose(job: SimJob): void {
    if (this.#discipline.bounded) this.#choose()
    else if (!job.waiting) this.#start(job)
    this.#plan()
    this.#events.waited(job, Math.ceil(job.done))
  }

  /** Schedules what happens next. */
  #plan(): void {
    const running = this.#ends.size
    const { cores, workPerSecond } = this.facts
    const busy = this.#ended ? 0 : Math.min(cores, running)
    if (busy !== this.#busy) {
      this.#events.busied(busy - this.#busy)
      this.#busy = busy
    }
    this.#activeShare = running === 0 ? 0 : Math.min(1, cores / running)
    this.#share = ((workPerSecond * this.#speed) / 1000) * this.#activeShare
    if (this.#share === 0 || this.#ended) {
      this.#clock.cancel(this.#due)
      return
    }
    let next = this.#ends.topKey()
    for (const job of this.#stopping()) {
      if (!job.running || job.waiting) continue
      const point = Math.min(this.#discipline.ranks ? nextPoint(job) : Infinity, job.waitAt) - job.base
      if (point < next) next = point
    }
    this.#clock.move(this.#due, this.#clock.now + (next - this.#each) / this.#share, rank.worker)
  }

  /** Jobs with which something may happen before they end. */
  #stopping(): readonly SimJob[] {
    return this.#discipline.ranks || this.#willWait > 0 ? this.jobs : []
  }

  #happen(): void {
    this.#advance()
    for (const job of this.#stopping()) {
      if (!job.running || job.waiting) continue
      if (job.waitAt < Infinity && job.waitAt - job.base <= this.#each + 1e-6 * job.waitAt)
        return this.#wait(job)
      const point = this.#discipline.ranks ? nextPoint(job) : Infinity
      if (point >= job.size) continue
      if (point - job.base <= this.#each + 1e-6 * point) return this.#revise(job, Math.ceil(point))
    }
    const job = this.#ends.top()!
    this.remove(job)
    this.#events.finished(job)
  }

  /** The job's rank changes: its turn has ended, its estimate is revised, or it is ranked from now on. */
  #revise(job: SimJob, done: number): void {
    if (done >= job.until) job.until = 0
    if (done >= job.sharesUntil) job.sharesUntil = 0
    if (done >= job.reviseAt) {
      const { expected, reviseAt } = expectationAfter(job.truth.job, done)
      job.expected = expected
      job.reviseAt = reviseAt
    }
    this.#choose()
    this.#plan()
    this.#events.overran(job, done)
  }
}
