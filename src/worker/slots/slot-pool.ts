/** The pool of slots: boots processes ahead of need, assigns one to each job, and replaces slots that cannot be reused. */
import { mkdirSync } from 'node:fs'
import { ConfigError, ContractError } from '../../lib/errors.ts'
import type { MeterSetting } from '../../model/metering.ts'
import type { JobPool } from '../job-pool.ts'
import type { JobRequest, JobRun } from '../job-run.ts'
import type { MeteredCode } from '../metered-code.ts'
import { Watchdog } from '../processes/watchdog.ts'
import { DeferredStops } from '../program/deferred-stops.ts'
import { bootsNow, slotStartsOf, usualBootMs } from './boot-plan.ts'
import { Slot, type SlotCommand, type SlotEnd, type SlotHost } from './slot.ts'
import { slotCommand } from './slot-command.ts'
import { minMemoryMb } from './slot-limits.ts'
import { SlotNotices } from './slot-notices.ts'
import { SlotRun, type SlotRunHost } from './slot-run.ts'

export interface SlotPoolOptions {
  /** Modules of workloads. */
  files: string[]
  /** Persistent files of workloads. */
  dataDir: string
  /** Number of idle slots kept ready. */
  warm: number
  /** Maximum number of slots that boot at the same time. Default: `warm`, at least 1. */
  boots?: number
  /** Niceness of slots. Default 0. */
  niceness?: number
  /** Limit on resident memory of one job, including about 50 MB of the runtime. */
  memoryMb: number
  /** Default: mode `work`. */
  meter?: MeterSetting
  /** Default: all files in the folders of the workloads. */
  metered?: MeteredCode
  /** Environment variables of the worker that workloads may see, besides the usual ones. */
  passEnv?: readonly string[]
  /** Receives the output of slots, and messages about failed slots. */
  log(line: string): void
  /** Options for Node in slots. */
  execArgv?: string[]
  /** Idle slots beyond `warm` are ended when they were not needed for this time. Default 60 s: a start takes as much CPU time as several jobs. */
  surplusMs?: number
}

/** Slots that may become free before another has booted are waited for, and counted again after this time. */
const recountMs = 50
/** Delay before an idle slot that died is replaced: the next one may die as well. */
const replaceMs = 1_000

export class SlotPool implements JobPool {
  readonly #options: SlotPoolOptions
  readonly #command: SlotCommand
  readonly #watchdog: Watchdog
  readonly #slots = new Set<Slot>()
  /** The last slot freed is used first, so that surplus slots are at the front. */
  readonly #idle: Slot[] = []
  /** Jobs without a slot, in order of arrival. */
  readonly #waiting = new Set<SlotRun>()
  readonly #running = new Set<SlotRun>()
  readonly #borrowers: { workload: string; use: (slot: Slot | undefined) => void }[] = []
  readonly #deferredStops = new DeferredStops(() => this.#startable().length)
  readonly #warmed = Promise.withResolvers<void>()
  readonly #runHost: SlotRunHost
  readonly notices: SlotNotices
  #loaded = 0
  #bootMs: number | undefined
  /** The last boot failed, and so would others: slots boot only for jobs. */
  #broken = false
  /** Minimum number of idle slots since the trim timer was set. */
  #minIdle = 0
  #lastId = 0
  #lastColdId: number | undefined
  #closed = false
  #trimTimer: NodeJS.Timeout | undefined
  #refillTimer: NodeJS.Timeout | undefined
  #recountTimer: NodeJS.Timeout | undefined

  constructor(options: SlotPoolOptions) {
    const { warm, memoryMb, dataDir } = options
    if (!Number.isInteger(warm) || warm < 0)
      throw new ConfigError(`warm = ${warm}: must be a whole number, at least 0`)
    if (!(memoryMb >= minMemoryMb))
      throw new ConfigError(`memoryMb = ${memoryMb}: must be at least ${minMemoryMb}`)
    mkdirSync(dataDir, { recursive: true })
    this.#options = options
    this.#command = slotCommand(options)
    this.#watchdog = new Watchdog()
    this.notices = new SlotNotices(options)
    this.#runHost = {
      memoryMb,
      request: (run) => {
        this.#running.delete(run)
        this.#waiting.add(run)
        this.#serve()
      },
      withdraw: (run) => {
        this.#waiting.delete(run)
        this.#deferredStops.settle()
      },
      pause: (process) => this.#deferredStops.pause(process),
      resume: (process) => this.#deferredStops.resume(process),
      forget: (process) => this.#deferredStops.delete(process),
      ended: (slot, reusable, changes) => {
        if (changes) this.notices.changed(slot.lastWorkload, changes)
        this.#jobEnded(slot, reusable && !changes)
      },
    }
    // Callers need not await `ready`.
    this.#warmed.promise.catch(() => {})
    if (warm === 0) this.#warmed.resolve()
    this.#refill()
  }

  /** Resolves when the warm slots have loaded the workloads. Rejects if they cannot be loaded. */
  ready(): Promise<void> {
    return this.#warmed.promise
  }

  get size(): number {
    return this.#slots.size
  }
  /** Slots that are ready for a job. */
  get idle(): number {
    return this.#idle.length
  }

  get slotStarts() {
    return slotStartsOf(this.#running.size, this.#idle.length, this.#bootMs)
  }

  start(job: JobRequest): JobRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    const run = new SlotRun(job, this.#runHost)
    void run.ended.then(() => this.#running.delete(run))
    this.#runHost.request(run)
    return run
  }

  /** Lends an idle slot for small jobs, now or later. The borrower must take it, and kill it in the end. Undefined: none can be started. */
  lend(workload: string, use: (slot: Slot | undefined) => void): void {
    if (this.#closed) return use(undefined)
    this.#borrowers.push({ workload, use })
    this.#serve()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { use } of this.#borrowers.splice(0)) use(undefined)
    clearTimeout(this.#trimTimer)
    clearTimeout(this.#refillTimer)
    clearTimeout(this.#recountTimer)
    for (const run of this.#waiting) run.cancel()
    await Promise.all([...this.#slots].map((slot) => slot.close()))
    await this.#watchdog.close()
    this.#warmed.reject(new ContractError('the pool was closed before its slots were ready'))
  }

  /** Gives idle slots to waiting jobs. A job that preempts others gets its slot before their slots are stopped. */
  #serve(): void {
    for (const run of this.#startable()) {
      const slot = this.#bestIdle(run.workload)
      if (!slot) break
      this.#waiting.delete(run)
      this.#running.add(run)
      run.use(slot)
    }
    while (this.#borrowers.length > 0 && this.#idle.length > 0) {
      const { workload, use } = this.#borrowers.shift()!
      use(this.#bestIdle(workload))
    }
    this.#minIdle = Math.min(this.#minIdle, this.#idle.length)
    this.#deferredStops.settle()
    // Starting a process takes a millisecond, so jobs are sent first.
    setImmediate(() => this.#refill())
  }

  #startable(): SlotRun[] {
    return [...this.#waiting].filter(({ paused }) => !paused)
  }

  /** The idle slot that ran this workload most often; among equals, the one freed last. */
  #bestIdle(workload: string): Slot | undefined {
    let best = this.#idle.length - 1
    for (let i = best - 1; i >= 0; i--) {
      if (this.#idle[i]!.timesRun(workload) > this.#idle[best]!.timesRun(workload)) best = i
    }
    return this.#idle.splice(best, 1)[0]
  }

  #refill(): void {
    if (this.#closed) return
    const { warm, boots = Math.max(1, warm) } = this.#options
    const waiting = this.#startable().length + this.#borrowers.length
    const active = [...this.#running].filter(({ paused }) => !paused)
    const state = {
      waiting,
      idle: this.#idle.length,
      booting: [...this.#slots].filter(({ ready, killed }) => !ready && !killed).length,
      warm: this.#broken ? 0 : warm,
      // The first slot fills the cache of rewritten code for the others.
      most: this.#lastColdId === undefined ? 1 : boots,
      bootMs: this.#bootMs,
      // Running jobs share the cores.
      remainingMs: active.map((run) => run.remainingMs() * Math.max(1, active.length / Math.max(1, warm))),
    }
    for (let left = bootsNow(state); left > 0; left--) this.#spawn()
    clearTimeout(this.#recountTimer)
    if (waiting > 0) this.#recountTimer = setTimeout(() => this.#refill(), recountMs).unref()
  }

  #spawn(): Slot {
    const slot = new Slot(++this.#lastId, this.#watchdog.newMark(), this.#command, this.#slotHost)
    this.#slots.add(slot)
    this.#updateWatchdog()
    return slot
  }

  #updateWatchdog(): void {
    this.#watchdog.watch([...this.#slots].flatMap((slot) => slot.pid ?? []))
  }

  readonly #slotHost: SlotHost = {
    log: (line) => this.#options.log(line),
    ready: (slot) => {
      this.#broken = false
      this.#lastColdId ??= this.#lastId
      // A cold slot is used for one job if that waits already.
      const isCold = this.#isCold(slot)
      if (isCold && this.#startable().length === 0) return slot.kill()
      if (!isCold) this.#bootMs = usualBootMs(this.#bootMs, slot.bootMs!)
      this.#addIdle(slot)
      if (!isCold && ++this.#loaded >= this.#options.warm) this.#warmed.resolve()
      this.#serve()
    },
    ended: (slot, end) => this.#slotEnded(slot, end),
  }

  /**
   * Slots that were started before the first one was ready may have had to strip and rewrite code themselves. They need
   * 25 MB more than slots that use the cache, so they are not reused.
   */
  #isCold(slot: Slot): boolean {
    return slot.cold && slot.id <= this.#lastColdId!
  }

  #jobEnded(slot: Slot, reusable: boolean): void {
    const released = slot.release(this.#options.memoryMb / 4) && !this.#isCold(slot)
    if (released && reusable && !this.#closed) {
      this.#addIdle(slot)
      this.#serve()
    } else slot.kill()
  }

  #addIdle(slot: Slot): void {
    this.#idle.push(slot)
    if (this.#trimTimer || this.#idle.length <= this.#options.warm) return
    this.#minIdle = this.#idle.length
    this.#trimTimer = setTimeout(() => this.#trim(), this.#options.surplusMs ?? 60_000)
    this.#trimTimer.unref()
  }

  /** Ends the slots beyond `warm` that were idle since the timer was set. */
  #trim(): void {
    this.#trimTimer = undefined
    const surplus = Math.max(0, this.#minIdle - this.#options.warm)
    for (const slot of this.#idle.splice(0, surplus)) slot.kill()
    const last = this.#idle.pop()
    if (last) this.#addIdle(last)
  }

  #slotEnded(slot: Slot, end: SlotEnd): void {
    const { how, unloadable } = end
    this.#slots.delete(slot)
    this.#updateWatchdog()
    const at = this.#idle.indexOf(slot)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#minIdle = Math.min(this.#minIdle, this.#idle.length)
    if (this.#closed) return
    this.#watchdog.ended(slot.mark)
    if (!slot.ready && !slot.killed) {
      this.#broken = true
      const reason = unloadable ?? `a slot ${how} while it loaded them`
      this.#options.log(`slot ${slot.id}: the workloads cannot be loaded: ${reason}`)
      this.notices.unloadable()
      this.#warmed.reject(new ConfigError(`the workloads cannot be loaded: ${reason}`))
      // Every slot would fail to load the same code; another failure is that of the job that waits longest.
      const failed = unloadable === undefined ? [...this.#waiting].slice(0, 1) : this.#waiting
      for (const run of failed) run.bootFailed(end)
      for (const { use } of this.#borrowers.splice(0)) use(undefined)
      this.#refill()
    } else if (slot.killed || slot.occupied) this.#refill()
    else {
      this.#options.log(`slot ${slot.id}: ${how} while it was idle`)
      this.#refillTimer ??= setTimeout(() => {
        this.#refillTimer = undefined
        this.#refill()
      }, replaceMs).unref()
    }
  }
}
