/** The pool of programs: starts as many as jobs need, assigns one to each job, and restarts programs that ended. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, ContractError } from '../../lib/errors.ts'
import type { JobPool } from '../job-pool.ts'
import type { JobRequest, JobRun } from '../job-run.ts'
import { passedEnvironment, withheldLine } from '../processes/environment.ts'
import { Watchdog } from '../processes/watchdog.ts'
import { openPrograms } from './address.ts'
import { Retries } from './backoff.ts'
import { placeholderIn } from './command.ts'
import { DeferredStops } from './deferred-stops.ts'
import { duration } from './error-messages.ts'
import { Program, type ProgramEnd, type ProgramHost } from './program.ts'
import { ProgramRun, type ProgramRunHost } from './program-run.ts'
import type { RequestTarget } from './request-target.ts'
import type { ProgramSettings } from './settings.ts'
import { SurplusPrograms } from './surplus-programs.ts'

export interface ProgramPoolOptions {
  server: ProgramSettings
  /** Number of idle programs kept ready. */
  warm: number
  /** Maximum number of programs. */
  slots: number
  /** Limit on resident memory of one job, including the program itself. */
  memoryMb: number
  /** Niceness of programs. Default 0. */
  niceness?: number
  /** Environment variables of the worker that programs may see, besides the usual ones. Default: none. */
  passEnv?: readonly string[]
  /** Receives the output of programs, and messages about failed programs. */
  log(line: string): void
  /** True: `ready` rejects if the first program does not become healthy. */
  mustStart?: boolean
  /** Idle programs beyond `warm` are ended when they were not needed for this time. Default 60 s. */
  surplusMs?: number
  /** The clock by which programs become healthy in time. Default: the machine's. */
  now?: () => number
}

/** Wait for the connection of a job to report that its program ended, before the job fails anyway. */
const orphanMs = 1_000

export class ProgramPool implements JobPool {
  readonly #options: ProgramPoolOptions
  readonly #programs = new Map<number, Program>()
  readonly #retries = new Retries()
  readonly #surplus: SurplusPrograms
  /** In order of arrival. */
  readonly #waiting = new Set<ProgramRun>()
  readonly #deferredStops = new DeferredStops(() => [...this.#waiting].filter(({ paused }) => !paused).length)
  readonly #ready = Promise.withResolvers<void>()
  readonly #readyTimer: NodeJS.Timeout
  readonly #socketDir: string | undefined
  readonly #watchdog: Watchdog
  readonly #programHost: ProgramHost
  readonly #runHost: ProgramRunHost
  /** The last program started failed, and so would more of them. */
  #broken = false
  #lastFailure: string | undefined
  #wasHealthy = false
  #saidWithheld = false
  #closed = false

  constructor(options: ProgramPoolOptions) {
    const { server, warm, memoryMb, surplusMs: afterMs = 60_000, now = () => performance.now() } = options
    this.#options = options
    this.#surplus = new SurplusPrograms({ warm, concurrency: server.concurrency, afterMs }, this.#programs)
    if (placeholderIn(server.command) === 'socket')
      this.#socketDir = mkdtempSync(join(tmpdir(), 'plimsoll-sockets-'))
    this.#watchdog = new Watchdog(this.#socketDir)
    this.#programHost = {
      settings: server,
      socketDir: this.#socketDir,
      limitMb: memoryMb * server.concurrency,
      niceness: options.niceness ?? 0,
      env: passedEnvironment(process.env, options.passEnv),
      newMark: () => this.#watchdog.newMark(),
      now,
      started: () => this.#updateWatchdog(),
      healthy: () => this.#programHealthy(),
      ended: (program, end) => this.#programEnded(program, end),
      memoryExceeded: (program, usedMb) => this.#memoryExceeded(program, usedMb),
      log: options.log,
    }
    this.#runHost = {
      exclusive: server.concurrency === 1,
      waitMs: server.startMs,
      unavailableReason: () => this.#unavailableReason(),
      request: (run) => {
        this.#waiting.add(run)
        this.#serve()
      },
      pause: (target) => this.#deferredStops.pause(target as Program),
      resume: (target) => this.#deferredStops.resume(target as Program),
      withdraw: (run) => {
        this.#waiting.delete(run)
        this.#deferredStops.settle()
      },
      unreachable: (run, target) => this.#unreachable(run, target as Program),
      ended: (run, target) => this.#jobEnded(run, target as Program),
      discard: (target: RequestTarget) => {
        const program = target as Program
        program.kill()
        return program.ended
      },
    }
    // A worker whose program fails still joins, and its jobs fail with the reason.
    this.#readyTimer = setTimeout(() => {
      if (options.mustStart)
        this.#ready.reject(this.#notStarted(`not healthy after ${duration(server.startMs)}`))
      else this.#ready.resolve()
    }, server.startMs)
    this.#ready.promise.catch(() => {})
    if (warm === 0) this.#ready.resolve()
    this.#fill()
  }

  /** Resolves when the first program is healthy, or, unless that is a must, after the start timeout. */
  ready(): Promise<void> {
    return this.#ready.promise
  }

  get problem(): string | undefined {
    const programs = [...this.#programs.values()]
    if (programs.some(({ healthy }) => healthy) || this.#options.warm === 0) return undefined
    return `no program is healthy; ${this.#lastFailure ?? programs.map(({ id, problem }) => `slot ${id}: ${problem}`).join(', ')}`
  }

  get programs() {
    return openPrograms(this.#programs.values(), this.#options.server.concurrency)
  }

  get size(): number {
    return this.#programs.size
  }

  get restMb(): number {
    return [...this.#programs.values()].reduce((sum, { restMb }) => sum + restMb, 0)
  }

  start(job: JobRequest): JobRun {
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
    await Promise.all(programs.map((program) => program.ended))
    await this.#watchdog.close()
    if (this.#socketDir !== undefined) rmSync(this.#socketDir, { recursive: true, force: true })
    this.#ready.reject(new ContractError('the pool was closed before its programs were ready'))
  }

  #serve(): void {
    for (const run of this.#waiting) {
      if (run.paused) continue
      const program = this.#leastBusy()
      if (!program) break
      this.#waiting.delete(run)
      program.take(run)
    }
    this.#deferredStops.settle()
    // Starting a process takes a millisecond, so requests are sent first.
    setImmediate(() => this.#fill())
  }

  /** The healthy program with the fewest jobs; among equals the one that was busy last, so that surplus stays idle. */
  #leastBusy(): Program | undefined {
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
    // A job that preempts others finds a warm program, and does not wait for one while they are paused.
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

  #updateWatchdog(): void {
    this.#watchdog.watch([...this.#programs.values()].flatMap(({ pid }) => pid ?? []))
  }

  #programHealthy(): void {
    this.#broken = false
    this.#wasHealthy = true
    this.#ready.resolve()
    clearTimeout(this.#readyTimer)
    this.#serve()
    this.#surplus.plan()
  }

  #jobEnded(run: ProgramRun, program: Program): void {
    this.#deferredStops.delete(program)
    program.release(run)
    this.#serve()
    this.#surplus.plan()
  }

  #unreachable(run: ProgramRun, program: Program): void {
    program.runs.delete(run)
    if (!program.isEnding()) program.fail(`nothing listens on ${program.address.where} any more`)
  }

  #memoryExceeded(program: Program, usedMb: number): void {
    const { memoryMb, server } = this.#options
    const used = `it used ${Math.ceil(usedMb)} MB`
    if (server.concurrency === 1) {
      for (const run of program.runs) {
        run.exceed(`out of memory: it grew too large; ${used}, and a job may use ${memoryMb} MB`)
      }
    } else {
      program.fail(
        `grew too large: ${used}, and ${server.concurrency} jobs may use ${this.#programHost.limitMb} MB`,
      )
    }
  }

  #programEnded(program: Program, { how, wanted, healthyMs }: ProgramEnd): void {
    const { id, runs } = program
    this.#programs.delete(id)
    this.#deferredStops.delete(program)
    this.#updateWatchdog()
    if (this.#closed) return
    this.#watchdog.ended(program.mark)
    if (runs.size > 0) {
      setTimeout(() => {
        for (const run of runs) run.orphaned()
      }, orphanMs).unref()
    }
    if (!wanted) this.#restart(id, how, healthyMs, runs.size > 0)
    if (!wanted && !this.#wasHealthy && !how.startsWith('could not be started')) this.#logWithheld()
    this.#fill()
  }

  #restart(id: number, how: string, healthyMs: number, hadJobs: boolean): void {
    if (!this.#wasHealthy && this.#options.mustStart) return this.#ready.reject(this.#notStarted(how))
    if (healthyMs === 0) this.#broken = ![...this.#programs.values()].some(({ healthy }) => healthy)
    this.#lastFailure = `slot ${id}: ${how}`
    // One that a request crashed is replaced at once, or a few such requests would delay all others.
    if (hadJobs || this.#programs.size + this.#retries.size >= this.#wanted())
      return this.#options.log(this.#lastFailure)
    const waitMs = this.#retries.plan(id, healthyMs, () => this.#launch(id))
    this.#options.log(`${this.#lastFailure}; next try in ${duration(waitMs)}`)
  }

  /** A program that never was healthy may lack a variable. */
  #logWithheld(): void {
    if (this.#saidWithheld) return
    this.#saidWithheld = true
    const { passEnv, server, log } = this.#options
    const line = withheldLine(process.env, passEnv, server.env)
    if (line !== undefined) log(line)
  }

  #notStarted(how: string): ConfigError {
    return new ConfigError(`the program does not start: ${how}`)
  }

  #unavailableReason(): string {
    if (this.#lastFailure !== undefined && this.#broken) return `none is healthy; ${this.#lastFailure}`
    const starting = [...this.#programs.values()].filter(({ healthy }) => !healthy)
    const problems = starting.map(({ id, problem }) => `slot ${id}: ${problem}`)
    return `none is free; ${problems.join(', ') || this.#lastFailure || `all ${this.#options.slots} slots are taken`}`
  }
}
