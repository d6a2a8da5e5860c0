/** The pool of programs: starts as many as jobs need, gives each job one, and tries again what came to its end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ContractError } from '../../lib/errors.ts'
import type { JobPool } from '../job-pool.ts'
import { Watchdog } from '../slots/guard.ts'
import type { SlotJobRequest, SlotRun } from '../slots/slot-run.ts'
import { Retries } from './backoff.ts'
import { placeIn } from './command.ts'
import { Lingering } from './lingering.ts'
import type { Place } from './place.ts'
import { Program, type ProgramEnd, type ProgramHost } from './program.ts'
import { ProgramRun, type RunHost } from './program-run.ts'
import type { ProgramSettings } from './settings.ts'
import { Surplus } from './surplus.ts'
import { seconds } from './words.ts'

export interface ProgramPoolOptions {
  server: ProgramSettings
  /** Idle programs kept ready. */
  warm: number
  /** Most programs. */
  slots: number
  /** Bound on resident memory for one job, the program's own included. */
  memoryMb: number
  /** What programs print, and what befalls them. */
  log(line: string): void
  /** Idle programs beyond `warm` that were not needed for so long are ended. Default 60 s. */
  surplusMs?: number
  /** The clock by which programs become healthy in time. Default: the machine's. */
  now?: () => number
}

/** A job whose program is gone is told so by its connection; one that another process holds open does not tell. */
const orphanMs = 1_000

export class ProgramPool implements JobPool {
  readonly #options: ProgramPoolOptions
  readonly #programs = new Map<number, Program>()
  readonly #retries = new Retries()
  readonly #surplus: Surplus
  /** In order of arrival. */
  readonly #waiting = new Set<ProgramRun>()
  readonly #lingering = new Lingering(() => [...this.#waiting].filter(({ paused }) => !paused).length)
  readonly #ready = Promise.withResolvers<void>()
  readonly #readyTimer: NodeJS.Timeout
  readonly #socketDir: string | undefined
  readonly #watchdog: Watchdog
  readonly #programHost: ProgramHost
  readonly #runHost: RunHost
  /** The last program that was started came to nothing: more of them would as well. */
  #broken = false
  #lastFault: string | undefined
  #closed = false

  constructor(options: ProgramPoolOptions) {
    const { server, warm, memoryMb, surplusMs: afterMs = 60_000, now = () => performance.now() } = options
    this.#options = options
    this.#surplus = new Surplus({ warm, concurrency: server.concurrency, afterMs }, this.#programs)
    if (placeIn(server.command) === 'socket')
      this.#socketDir = mkdtempSync(join(tmpdir(), 'plimsoll-sockets-'))
    this.#watchdog = new Watchdog(this.#socketDir)
    this.#programHost = {
      settings: server,
      socketDir: this.#socketDir,
      boundMb: memoryMb * server.concurrency,
      now,
      started: () => this.#tellWatchdog(),
      healthy: () => this.#healthy(),
      gone: (program, end) => this.#gone(program, end),
      outgrown: (program, usedMb) => this.#outgrown(program, usedMb),
      log: options.log,
    }
    this.#runHost = {
      alone: server.concurrency === 1,
      waitMs: server.startMs,
      whyNone: () => this.#whyNone(),
      seek: (run) => {
        this.#waiting.add(run)
        this.#serve()
      },
      pause: (place) => this.#lingering.pause(place as Program),
      resume: (place) => this.#lingering.resume(place as Program),
      leave: (run) => {
        this.#waiting.delete(run)
        this.#lingering.settle()
      },
      unreachable: (run, place) => this.#unreachable(run, place as Program),
      over: (run, place) => this.#over(run, place as Program),
      discard: (place: Place) => {
        const program = place as Program
        program.kill()
        return program.gone
      },
    }
    // A worker whose program is broken joins all the same: its jobs are told what is wrong.
    this.#readyTimer = setTimeout(() => this.#ready.resolve(), server.startMs)
    this.#ready.promise.catch(() => {})
    if (warm === 0) this.#ready.resolve()
    this.#fill()
  }

  /** The first program is healthy, or had the time to be. */
  ready(): Promise<void> {
    return this.#ready.promise
  }

  get size(): number {
    return this.#programs.size
  }

  start(job: SlotJobRequest): SlotRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    return new ProgramRun(job, this.#runHost)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#readyTimer)
    this.#surplus.close()
    this.#retries.close()
    for (const run of this.#waiting) run.cancel()
    const programs = [...this.#programs.values()]
    for (const program of programs) {
      for (const run of program.runs) run.cancel()
      program.end()
    }
    await Promise.all(programs.map((program) => program.gone))
    await this.#watchdog.close()
    if (this.#socketDir !== undefined) rmSync(this.#socketDir, { recursive: true, force: true })
    this.#ready.reject(new ContractError('the pool was closed before its programs were ready'))
  }

  #serve(): void {
    for (const run of this.#waiting) {
      if (run.paused) continue
      const program = this.#roomiest()
      if (!program) break
      this.#waiting.delete(run)
      program.take(run)
    }
    this.#lingering.settle()
    // After the requests are on their way: to start a process takes a millisecond.
    setImmediate(() => this.#fill())
  }

  /** Of the healthy programs the least busy, then the one that was busy last, so that the surplus stays idle. */
  #roomiest(): Program | undefined {
    let best: Program | undefined
    for (const program of this.#programs.values()) {
      if (!program.healthy || program.runs.size >= this.#options.server.concurrency) continue
      const less = best ? program.runs.size - best.runs.size : -1
      if (less < 0 || (less === 0 && program.idleSince > best!.idleSince)) best = program
    }
    return best
  }

  #fill(): void {
    if (this.#closed) return
    while (this.#programs.size + this.#retries.size < this.#wanted()) this.#launch(this.#freeId())
  }

  #wanted(): number {
    const { warm, slots, server } = this.#options
    if (this.#broken) return Math.max(1, warm)
    const jobs = [...this.#programs.values()].reduce((sum, { runs }) => sum + runs.size, this.#waiting.size)
    // A job that goes before others finds a program ready, and need not wait for one while they are stopped.
    const all = server.concurrency === 1 ? jobs + warm : Math.max(warm, Math.ceil(jobs / server.concurrency))
    return Math.min(slots, all)
  }

  #freeId(): number {
    let id = 1
    while (this.#programs.has(id) || this.#retries.has(id)) id++
    return id
  }

  #launch(id: number): void {
    this.#programs.set(id, new Program(id, this.#programHost))
  }

  #tellWatchdog(): void {
    this.#watchdog.watch([...this.#programs.values()].flatMap(({ pid }) => pid ?? []))
  }

  #healthy(): void {
    this.#broken = false
    this.#ready.resolve()
    clearTimeout(this.#readyTimer)
    this.#serve()
    this.#surplus.plan()
  }

  #over(run: ProgramRun, program: Program): void {
    this.#lingering.forget(program)
    program.release(run)
    this.#serve()
    this.#surplus.plan()
  }

  #unreachable(run: ProgramRun, program: Program): void {
    program.runs.delete(run)
    if (!program.isEnding()) program.fail(`nothing listens on ${program.address.where} any more`)
  }

  #outgrown(program: Program, usedMb: number): void {
    const { memoryMb, server } = this.#options
    const used = `it used ${Math.ceil(usedMb)} MB`
    if (server.concurrency === 1) {
      for (const run of program.runs) {
        run.outgrown(`out of memory: it grew too large; ${used}, and a job may use ${memoryMb} MB`)
      }
    } else {
      program.fail(
        `grew too large: ${used}, and ${server.concurrency} jobs may use ${this.#programHost.boundMb} MB`,
      )
    }
  }

  #gone(program: Program, { how, wanted, wellMs }: ProgramEnd): void {
    const { id, runs } = program
    this.#programs.delete(id)
    this.#lingering.forget(program)
    this.#tellWatchdog()
    if (this.#closed) return
    if (runs.size > 0) {
      setTimeout(() => {
        for (const run of runs) run.orphaned()
      }, orphanMs).unref()
    }
    if (!wanted) this.#tryAgain(id, how, wellMs)
    this.#fill()
  }

  #tryAgain(id: number, how: string, wellMs: number): void {
    if (wellMs === 0) this.#broken = ![...this.#programs.values()].some(({ healthy }) => healthy)
    this.#lastFault = `slot ${id}: ${how}`
    if (this.#programs.size + this.#retries.size >= this.#wanted()) return this.#options.log(this.#lastFault)
    const waitMs = this.#retries.plan(id, wellMs, () => this.#launch(id))
    this.#options.log(`${this.#lastFault}; next try in ${seconds(waitMs)}`)
  }

  #whyNone(): string {
    if (this.#lastFault !== undefined && this.#broken) return `none is healthy; ${this.#lastFault}`
    const starting = [...this.#programs.values()].filter(({ healthy }) => !healthy)
    const troubles = starting.map(({ id, trouble }) => `slot ${id}: ${trouble}`)
    return `none is free; ${troubles.join(', ') || this.#lastFault || `all ${this.#options.slots} slots are taken`}`
  }
}
