/** The pool of slots: starts processes ahead of need, gives each job one, and replaces what a job has spoilt. */
import { mkdirSync } from 'node:fs'
import { ConfigError, ContractError } from '../../lib/errors.ts'
import { defaultMeter } from '../../meter/hooks.ts'
import type { MeterSetting } from '../../model/metering.ts'
import type { JobPool } from '../job-pool.ts'
import { Run, type RunHost } from '../run.ts'
import { leastMemoryMb, Watchdog } from './guard.ts'
import { Slot, type SlotEnd, type SlotHost, type SlotProgram } from './slot.ts'
import { slotProgram } from './slot-program.ts'
import type { SlotJobRequest, SlotRun } from './slot-run.ts'

export type { SlotAnswer, SlotJobRequest, SlotRun, SlotUsage } from './slot-run.ts'

export interface SlotPoolOptions {
  /** Modules of workloads. */
  files: string[]
  /** Where workloads keep what outlives a job. */
  dataDir: string
  /** Idle slots kept ready. */
  warm: number
  /** Bound on resident memory for one job, the runtime's own 50 MB included. */
  memoryMb: number
  /** How work is counted. Default: as one number. */
  meter?: MeterSetting
  /** npm packages whose work counts too. */
  packages?: readonly string[]
  /** Files whose work does not count, because their workload counts its steps. */
  uncounted?: readonly string[]
  /** What slots print, and what befalls them. */
  log(line: string): void
  /** Options for Node in slots. */
  execArgv?: string[]
  /**
   * Idle slots beyond `warm` that were not needed for so long are ended. Default 60 s: to start another, and to compile
   * all code anew in it, takes as much CPU time as several jobs.
   */
  surplusMs?: number
}

/** Before a slot that died without a job is replaced: it may well die again. */
const backOffMs = 1_000

export class SlotPool implements JobPool {
  readonly #options: SlotPoolOptions
  readonly #program: SlotProgram
  readonly #watchdog: Watchdog
  readonly #slots = new Set<Slot>()
  /** The last one freed is used first, so that surplus is at the front. */
  readonly #idle: Slot[] = []
  readonly #warmed = Promise.withResolvers<void>()
  readonly #runHost: RunHost
  #loaded = 0
  #leastIdle = 0
  #lastId = 0
  #lastColdId: number | undefined
  #closed = false
  #trimTimer: NodeJS.Timeout | undefined
  #refillTimer: NodeJS.Timeout | undefined

  constructor(options: SlotPoolOptions) {
    const { warm, memoryMb, dataDir } = options
    if (!Number.isInteger(warm) || warm < 0) {
      throw new ConfigError(`warm = ${warm}: must be a whole number, at least 0`)
    }
    if (!(memoryMb >= leastMemoryMb)) {
      throw new ConfigError(`memoryMb = ${memoryMb}: must be at least ${leastMemoryMb}`)
    }
    mkdirSync(dataDir, { recursive: true })
    this.#options = options
    this.#program = slotProgram({
      execArgv: [],
      meter: defaultMeter,
      packages: [],
      uncounted: [],
      ...options,
    })
    this.#watchdog = new Watchdog()
    this.#runHost = {
      memoryMb,
      over: (slot, spoilt) => this.#over(slot, spoilt),
      another: (workload) => this.#spare(workload),
    }
    // Nobody need wait for it.
    this.#warmed.promise.catch(() => {})
    if (warm === 0) this.#warmed.resolve()
    this.#refill()
  }

  /** The warm slots are loaded. Rejects with what is wrong if the workloads cannot be. */
  ready(): Promise<void> {
    return this.#warmed.promise
  }

  get size(): number {
    return this.#slots.size
  }

  start(job: SlotJobRequest): SlotRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    const run = new Run(job, this.#runHost)
    run.use(this.#spare(job.workload))
    return run
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#trimTimer)
    clearTimeout(this.#refillTimer)
    await Promise.all([...this.#slots].map((slot) => slot.close()))
    await this.#watchdog.close()
    this.#warmed.reject(new ContractError('the pool was closed before its slots were ready'))
  }

  #spare(workload: string): Slot {
    const slot = this.#mostUsedTo(workload) ?? this.#unoccupied()[0] ?? this.#spawn()
    this.#leastIdle = Math.min(this.#leastIdle, this.#idle.length)
    // After the job is on its way: to start a process takes a millisecond.
    setImmediate(() => this.#refill())
    return slot
  }

  /** Of the idle slots the one that has run this workload most often, then the one freed last. */
  #mostUsedTo(workload: string): Slot | undefined {
    let best = this.#idle.length - 1
    for (let i = best - 1; i >= 0; i--) {
      if (this.#idle[i]!.timesRun(workload) > this.#idle[best]!.timesRun(workload)) best = i
    }
    return this.#idle.splice(best, 1)[0]
  }

  /** Idle slots and those that still load for nobody. */
  #unoccupied(): Slot[] {
    return [...this.#slots].filter((slot) => !slot.occupied && !slot.killed)
  }

  #refill(): void {
    if (this.#closed) return
    for (let have = this.#unoccupied().length; have < this.#options.warm; have++) this.#spawn()
  }

  #spawn(): Slot {
    const slot = new Slot(++this.#lastId, this.#program, this.#slotHost)
    this.#slots.add(slot)
    this.#tellWatchdog()
    return slot
  }

  #tellWatchdog(): void {
    this.#watchdog.watch([...this.#slots].flatMap((slot) => slot.pid ?? []))
  }

  readonly #slotHost: SlotHost = {
    log: (line) => this.#options.log(line),
    ready: (slot) => {
      this.#lastColdId ??= this.#lastId
      if (slot.occupied) return
      if (this.#isCold(slot)) return slot.kill()
      this.#rest(slot)
      if (++this.#loaded >= this.#options.warm) this.#warmed.resolve()
    },
    gone: (slot, end) => this.#gone(slot, end),
  }

  /**
   * The slots that were started before any was ready may have had to strip and rewrite code themselves. That
   * leaves them 25 MB larger than those that find it done, so they do not stay.
   */
  #isCold(slot: Slot): boolean {
    return slot.cold && slot.id <= this.#lastColdId!
  }

  #over(slot: Slot, spoilt: boolean): void {
    const reusable = slot.release(this.#options.memoryMb / 4) && !this.#isCold(slot)
    if (reusable && !spoilt && !this.#closed) this.#rest(slot)
    else slot.kill()
  }

  #rest(slot: Slot): void {
    this.#idle.push(slot)
    if (this.#trimTimer || this.#idle.length <= this.#options.warm) return
    this.#leastIdle = this.#idle.length
    this.#trimTimer = setTimeout(() => this.#trim(), this.#options.surplusMs ?? 60_000)
    this.#trimTimer.unref()
  }

  /** Ends what was idle beyond `warm` all the time since the timer was set. */
  #trim(): void {
    this.#trimTimer = undefined
    const surplus = Math.max(0, this.#leastIdle - this.#options.warm)
    for (const slot of this.#idle.splice(0, surplus)) slot.kill()
    const last = this.#idle.pop()
    if (last) this.#rest(last)
  }

  #gone(slot: Slot, { how, unloadable }: SlotEnd): void {
    this.#slots.delete(slot)
    this.#tellWatchdog()
    const at = this.#idle.indexOf(slot)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#leastIdle = Math.min(this.#leastIdle, this.#idle.length)
    if (this.#closed) return
    if (!slot.ready && !slot.killed) {
      // Not replaced until a job needs it: it would fail again.
      const why = unloadable ?? `a slot ${how} while it loaded them`
      this.#options.log(`slot ${slot.id}: the workloads cannot be loaded: ${why}`)
      this.#warmed.reject(new ConfigError(`the workloads cannot be loaded: ${why}`))
    } else if (slot.killed || slot.occupied) this.#refill()
    else {
      this.#options.log(`slot ${slot.id}: ${how} while it was idle`)
      this.#refillTimer ??= setTimeout(() => {
        this.#refillTimer = undefined
        this.#refill()
      }, backOffMs).unref()
    }
  }
}
