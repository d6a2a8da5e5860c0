/** One program in a slot, from its start to its end: becomes healthy, runs jobs, and is checked while it is idle. */
import { setTimeout as delay } from 'node:timers/promises'
import { markName } from '../processes/marks.ts'
import { MemoryWatch } from '../processes/memory-watch.ts'
import { type Address, assignAddress, otherLoopback } from './address.ts'
import { Connections } from './connections.ts'
import type { CpuAccount } from './cpu-account.ts'
import { describeExit, describeUnhealthy, type ProgramFacts } from './describe-failure.ts'
import { GroupUsage, isEnding } from './group-usage.ts'
import { checkHealth, type HealthProblem, healthTimeoutMs } from './health.ts'
import { startingPoint } from './kept-program.ts'
import { type Exit, ProcessGroup } from './process-group.ts'
import type { ProgramRun } from './program-run.ts'
import type { RequestTarget } from './request-target.ts'
import type { ProgramSettings } from './settings.ts'

export interface ProgramEnd extends Exit {
  /** The worker ended a sound program. */
  wanted: boolean
  /** How long it was healthy; 0 if it never was. */
  healthyMs: number
}

export interface ProgramHost {
  settings: ProgramSettings
  /** Folder of Unix sockets. */
  socketDir: string | undefined
  /** Memory that all concurrent jobs of a program may use beyond its memory at rest. */
  limitMb: number
  niceness: number
  /** The part of the worker's environment that programs may see. */
  env: Readonly<Record<string, string>>
  newMark(): string
  /** The clock by which programs become healthy in time, in milliseconds. */
  now(): number
  started(program: Program): void
  healthy(program: Program): void
  ended(program: Program, end: ProgramEnd): void
  /** The program exceeded its memory limit. */
  memoryExceeded(program: Program, usedMb: number): void
  log(line: string): void
}

const maxFailures = 3
/** A health check with a shorter timeout proves nothing. */
const minCheckMs = 200
/** Grace period between SIGTERM and SIGKILL. */
const graceMs = 1_000
/** A program whose connection broke may be exiting: maximum wait for its exit, to report how it ended. */
const exitWaitMs = 200

export class Program implements RequestTarget {
  readonly id: number
  /** Finds processes that it started. */
  readonly mark: string
  readonly ended: Promise<ProgramEnd>
  readonly runs = new Set<ProgramRun>()
  readonly connections: Connections
  readonly #host: ProgramHost
  readonly #startedAt: number
  #address: Address | undefined
  #process: ProcessGroup | undefined
  #usage: GroupUsage | undefined
  #watch: MemoryWatch | undefined
  #healthyAt: number | undefined
  #checkTimer: NodeJS.Timeout | undefined
  #failures = 0
  #lastMb = 0
  /** Its memory when it became healthy. */
  #startMb = 0
  /** Its memory without a job, which is not a job's. */
  restMb = 0
  /** Why the worker ends it. */
  #endReason: string | undefined
  #wanted = false
  idleSince = performance.now()
  /** Why it is not healthy. */
  problem = 'it is starting'

  constructor(id: number, host: ProgramHost) {
    this.id = id
    this.mark = host.newMark()
    this.#host = host
    this.connections = new Connections({ tls: false, single: host.settings.concurrency === 1 })
    this.#startedAt = host.now()
    this.ended = this.#live()
  }

  get name(): string {
    return `the program of slot ${this.id}`
  }
  get pid(): number | undefined {
    return this.#process?.pid
  }
  get address(): Address {
    return this.#address!
  }
  /** Whether it accepts jobs. */
  get healthy(): boolean {
    return this.#healthyAt !== undefined && !this.ending && !this.#process!.exited
  }
  get ending(): boolean {
    return this.#endReason !== undefined
  }

  take(run: ProgramRun): void {
    if (this.runs.size === 0) this.#watchMemory()
    this.runs.add(run)
    run.use(this)
  }

  release(run: ProgramRun): void {
    this.runs.delete(run)
    this.resume()
    if (this.runs.size > 0) return
    this.#watch?.stop()
    this.idleSince = performance.now()
  }

  /** Memory beyond that at rest, for each concurrent job. */
  peakMb(): number {
    return Math.max(this.#watch?.peakMb ?? 0, this.#lastMb) / this.#host.settings.concurrency
  }

  account(): CpuAccount | undefined {
    return this.#usage?.account()
  }
  demandMs(): number | undefined {
    return this.#usage?.demandMs()
  }
  isRunnable(): boolean {
    return this.#usage?.isRunnable() ?? false
  }

  stop(): void {
    this.#watch?.stop()
    this.#process?.stop()
  }

  resume(): void {
    this.#process?.resume()
    if (this.runs.size > 0) this.#watch?.start()
  }

  isEnding(): boolean {
    return this.#process!.exited || (this.pid !== undefined && isEnding(this.pid))
  }

  async exit(): Promise<Exit | undefined> {
    await Promise.race([this.ended, delay(exitWaitMs)])
    // On a busy machine the exit may take longer.
    return this.ending || this.isEnding() ? await this.ended : undefined
  }

  /** Kills it because of a failure. */
  fail(reason: string): void {
    this.#endReason ??= reason
    this.#process?.kill()
  }

  /** Kills it because its job must end. */
  kill(): void {
    this.#wanted = true
    this.fail('was ended')
  }

  /** Ends it gracefully because it is not needed. */
  end(): void {
    this.#wanted = true
    this.#endReason ??= 'was ended'
    this.connections.closeIdle()
    this.#process?.end(graceMs)
  }

  async #live(): Promise<ProgramEnd> {
    const exit = await this.#run().catch((error: Error) => ({
      how: `could not be started: ${error.message}`,
      killed: false,
    }))
    clearTimeout(this.#checkTimer)
    this.connections.closeIdle()
    this.#watch?.stop()
    this.#usage?.close()
    const healthyMs = this.#healthyAt === undefined ? 0 : performance.now() - this.#healthyAt
    const { killed } = exit
    const how = this.#endReason ?? describeExit(exit.how, this.#healthyAt !== undefined, this.#facts())
    const end = { how, killed: killed && !this.ending, wanted: this.#wanted, healthyMs }
    this.#host.ended(this, end)
    return end
  }

  async #run(): Promise<Exit> {
    const { settings, socketDir, niceness, log, now } = this.#host
    const point = startingPoint(settings)
    const { address, command } = await assignAddress(point.command, this.id, socketDir)
    this.#address = address
    if (this.ending) return { how: 'was ended', killed: false }
    const env = {
      [markName]: this.mark,
      ...this.#host.env,
      ...settings.env,
      ...('port' in address.connect && { PORT: `${address.connect.port}` }),
    }
    const { cwd } = point
    const print = (line: string) => log(`slot ${this.id}: ${line}`)
    const group = new ProcessGroup({ command, env, cwd, niceness, now }, print)
    this.#process = group
    if (group.pid !== undefined) this.#usage = new GroupUsage(group.pid)
    this.#host.started(this)
    await this.#start(group)
    return await group.ended
  }

  async #start(group: ProcessGroup): Promise<void> {
    const { now, settings } = this.#host
    const until = now() + settings.startMs
    let previous: HealthProblem | undefined
    for (let waitMs = 20; !group.exited && !this.ending; waitMs = Math.min(250, waitMs * 1.5)) {
      const limitMs = Math.max(1, Math.min(healthTimeoutMs, until - now()))
      const found = await this.#check(limitMs)
      if (group.exited || this.ending) return
      if (!found) return this.#becomeHealthy()
      // A last check that had too little time proves nothing.
      const problem: HealthProblem = previous && limitMs < minCheckMs ? previous : found
      previous = problem
      this.problem = problem.message
      if (now() >= until) return this.fail(describeUnhealthy(problem, this.#facts()))
      await Promise.race([group.ended, delay(waitMs)])
    }
  }

  #becomeHealthy(): void {
    this.#healthyAt = performance.now()
    this.idleSince = this.#healthyAt
    this.#usage?.findDetached()
    this.#startMb = this.#usage?.memoryMb() ?? 0
    this.restMb = this.#startMb
    this.#planCheck()
    this.#host.healthy(this)
  }

  async #check(limitMs: number): Promise<HealthProblem | undefined> {
    const { health } = this.#host.settings
    // A program may accept only one connection at a time.
    this.connections.closeIdle()
    const problem = await checkHealth(this.address, health, limitMs)
    const other = problem?.refused ? otherLoopback(this.address) : undefined
    if (!other) return problem
    const otherProblem = await checkHealth(other, health, limitMs)
    if (otherProblem?.refused) return problem
    this.#address = other
    return otherProblem
  }

  #planCheck(): void {
    this.#checkTimer = setTimeout(() => this.#checkIdle(), this.#host.settings.healthEveryMs).unref()
  }

  /** Checks only while idle: a program that handles one request at a time could not answer. */
  async #checkIdle(): Promise<void> {
    const problem = this.runs.size > 0 ? undefined : await this.#check(healthTimeoutMs)
    if (!this.healthy) return
    this.#failures = problem && this.runs.size === 0 ? this.#failures + 1 : 0
    // Caches and what jobs left behind count as memory at rest, up to a limit, so that a leak is noticed.
    if (this.runs.size === 0)
      this.restMb = Math.min(this.#usage?.memoryMb() ?? 0, this.#startMb + this.#host.limitMb)
    if (this.#failures < maxFailures) return this.#planCheck()
    this.fail(`no longer healthy: ${problem!.message}, ${maxFailures} times in a row`)
  }

  #watchMemory(): void {
    const usage = this.#usage
    if (!usage) return
    this.#lastMb = 0
    this.#watch = new MemoryWatch(() => this.#sampleMemory(usage), this.#host.limitMb, {
      exceeded: (usedMb) => this.#host.memoryExceeded(this, usedMb),
      sampled: () => {
        for (const run of this.runs) run.sample()
      },
    })
    this.#watch.start()
  }

  #sampleMemory(usage: GroupUsage): number | undefined {
    const usedMb = usage.memoryMb()
    if (usedMb === undefined) return undefined
    this.#lastMb = Math.max(0, usedMb - this.restMb)
    return this.#lastMb
  }

  #facts(): ProgramFacts {
    return {
      command: this.#host.settings.command,
      startMs: this.#host.settings.startMs,
      ageMs: this.#host.now() - this.#startedAt,
      ...(this.#process?.lastLine ?? { lastLine: '', lastLineAgeMs: 0 }),
      pids: this.#usage?.members() ?? [],
    }
  }
}
