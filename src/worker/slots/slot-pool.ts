/** The pool of slots: keeps warm processes, assigns one to each job, and replaces slots that cannot be reused. */
import { mkdirSync } from 'node:fs'
import { ConfigError, ContractError } from '../../lib/errors.ts'
import { defaultMeter } from '../../meter/hooks.ts'
import type { MeterSetting } from '../../model/metering.ts'
import type { JobPool } from '../job-pool.ts'
import type { JobRequest, JobRun } from '../job-run.ts'
import { Watchdog } from '../processes/watchdog.ts'
import { Slot, type SlotCommand, type SlotEnd, type SlotHost } from './slot.ts'
import { slotCommand } from './slot-command.ts'
import { minMemoryMb } from './slot-limits.ts'
import { SlotRun, type SlotRunHost } from './slot-run.ts'

export interface SlotPoolOptions {
  /** Modules of workloads. */
  files: string[]
  /** Persistent files of workloads. */
  dataDir: string
  /** Number of idle slots kept ready. */
  warm: number
  /** Limit on resident memory of one job, including about 50 MB of the runtime. */
  memoryMb: number
  /** Default: mode `work`. */
  meter?: MeterSetting
  /** npm packages to meter. */
  packages?: readonly string[]
  /** Files that are not metered, because their workload counts its steps. */
  uncounted?: readonly string[]
  /** Receives the output of slots, and messages about failed slots. */
  log(line: string): void
  /** Options for Node in slots. */
  execArgv?: string[]
  /**
   * Idle slots beyond `warm` are ended when they were not needed for this time. Default 60 s: starting a slot, and
   * compiling all code again, takes as much CPU time as several jobs.
   */
  surplusMs?: number
}

/** Delay before an idle slot that died is replaced: the next one may die as well. */
const replaceMs = 1_000

export class SlotPool implements JobPool {
  readonly #options: SlotPoolOptions
  readonly #command: SlotCommand
  readonly #watchdog: Watchdog
  readonly #slots = new Set<Slot>()
  /** The last slot freed is used first, so that surplus slots are at the front. */
  readonly #idle: Slot[] = []
  readonly #warmed = Promise.withResolvers<void>()
  readonly #runHost: SlotRunHost
  #loaded = 0
  /** Minimum number of idle slots since the trim timer was set. */
  #minIdle = 0
  #lastId = 0
  #lastColdId: number | undefined
  #closed = false
  #trimTimer: NodeJS.Timeout | undefined
  #refillTimer: NodeJS.Timeout | undefined

  constructor(options: SlotPoolOptions) {
    const { warm, memoryMb, dataDir } = options
    if (!Number.isInteger(warm) || warm < 0) {
      throw new ConfigError(`warm = ${warm}: must be an integer of at least 0`)
    }
    if (!(memoryMb >= minMemoryMb)) {
      throw new ConfigError(`memoryMb = ${memoryMb}: must be at least ${minMemoryMb}`)
    }
    mkdirSync(dataDir, { recursive: true })
    this.#options = options
    this.#command = slotCommand({
      execArgv: [],
      meter: defaultMeter,
      packages: [],
      uncounted: [],
      ...options,
    })
    this.#watchdog = new Watchdog()
    this.#runHost = {
      memoryMb,
      ended: (slot, reusable) => this.#jobEnded(slot, reusable),
      replace: (workload) => this.#slotFor(workload),
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

  start(job: JobRequest): JobRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    const run = new SlotRun(job, this.#runHost)
    run.use(this.#slotFor(job.workload))
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

  #slotFor(workload: string): Slot {
    const slot = this.#bestIdle(workload) ?? this.#unoccupied()[0] ?? this.#spawn()
    this.#minIdle = Math.min(this.#minIdle, this.#idle.length)
    // Starting a process takes a millisecond, so the job is sent first.
    setImmediate(() => this.#refill())
    return slot
  }

  /** The idle slot that ran this workload most often; among equals, the one freed last. */
  #bestIdle(workload: string): Slot | undefined {
    let best = this.#idle.length - 1
    for (let i = best - 1; i >= 0; i--) {
      if (this.#idle[i]!.timesRun(workload) > this.#idle[best]!.timesRun(workload)) best = i
    }
    return this.#idle.splice(best, 1)[0]
  }

  /** Slots without a job, including slots that are still loading. */
  #unoccupied(): Slot[] {
    return [...this.#slots].filter((slot) => !slot.occupied && !slot.killed)
  }

  #refill(): void {
    if (this.#closed) return
    for (let have = this.#unoccupied().length; have < this.#options.warm; have++) this.#spawn()
  }

  #spawn(): Slot {
    const slot = new Slot(++this.#lastId, this.#command, this.#slotHost)
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
      this.#lastColdId ??= this.#lastId
      if (slot.occupied) return
      if (this.#isCold(slot)) return slot.kill()
      this.#addIdle(slot)
      if (++this.#loaded >= this.#options.warm) this.#warmed.resolve()
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
    if (released && reusable && !this.#closed) this.#addIdle(slot)
    else slot.kill()
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

  #slotEnded(slot: Slot, { how, unloadable }: SlotEnd): void {
    this.#slots.delete(slot)
    this.#updateWatchdog()
    const at = this.#idle.indexOf(slot)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#minIdle = Math.min(this.#minIdle, this.#idle.length)
    if (this.#closed) return
    if (!slot.ready && !slot.killed) {
      // Replaced only when a job needs it, because it would fail again.
      const reason = unloadable ?? `a slot ${how} while it loaded them`
      this.#options.log(`slot ${slot.id}: the workloads cannot be loaded: ${reason}`)
      this.#warmed.reject(new ConfigError(`the workloads cannot be loaded: ${reason}`))
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
