/** One program in a slot, from its start to its end: becomes healthy, takes jobs, and is looked at while it is idle. */
import { setTimeout as delay } from 'node:timers/promises'
import { MemoryWatch } from '../slots/memory-watch.ts'
import { type Address, assignAddress, otherLoopback } from './address.ts'
import type { CpuAccount } from './cpu-account.ts'
import { GroupUsage, isEnding } from './group-usage.ts'
import { checkHealth, patienceMs, type Sickness } from './health.ts'
import { howItEnded, type ProgramFacts, whyNotHealthy } from './last-words.ts'
import type { Place } from './place.ts'
import { type Exit, ProcessGroup } from './process-group.ts'
import type { ProgramRun } from './program-run.ts'
import type { ProgramSettings } from './settings.ts'

export interface ProgramEnd extends Exit {
  /** We wanted it to end, and not because something was wrong with it. */
  wanted: boolean
  /** How long it had been healthy; 0: it never was. */
  wellMs: number
}

export interface ProgramHost {
  settings: ProgramSettings
  /** Where unix sockets are made. */
  socketDir: string | undefined
  /** For all jobs that a program takes at a time. */
  boundMb: number
  /** The clock by which programs become healthy in time, in milliseconds. */
  now(): number
  started(program: Program): void
  healthy(program: Program): void
  gone(program: Program, end: ProgramEnd): void
  /** It has more memory than its bound. */
  outgrown(program: Program, usedMb: number): void
  log(line: string): void
}

const mostFailures = 3
/** A look at its health needs so long to mean something. */
const leastLookMs = 200
/** What ends by itself may take so long. */
const graceMs = 1_000
/** A program whose connection broke may be about to end: so long it is waited for, to tell how. */
const fateMs = 200

export class Program implements Place {
  readonly id: number
  readonly gone: Promise<ProgramEnd>
  readonly runs = new Set<ProgramRun>()
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
  /** Why we end it. */
  #why: string | undefined
  #wanted = false
  idleSince = performance.now()
  /** What is wrong as long as it is not healthy. */
  trouble = 'it is starting'

  constructor(id: number, host: ProgramHost) {
    this.id = id
    this.#host = host
    this.#startedAt = host.now()
    this.gone = this.#live()
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
  /** Jobs can be given to it. */
  get healthy(): boolean {
    return this.#healthyAt !== undefined && !this.ending && !this.#process!.exited
  }
  get ending(): boolean {
    return this.#why !== undefined
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

  /** Of a job so short that nobody looked, what was seen last. */
  peakMb(): number {
    return Math.max(this.#watch?.peakMb ?? 0, this.#lastMb) / this.#host.settings.concurrency
  }

  account(): CpuAccount | undefined {
    return this.#usage?.account()
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

  async fate(): Promise<Exit | undefined> {
    await Promise.race([this.gone, delay(fateMs)])
    // On a busy machine it may take longer to end.
    return this.ending || this.isEnding() ? await this.gone : undefined
  }

  /** Ends it at once, because of what it did. */
  fail(why: string): void {
    this.#why ??= why
    this.#process?.kill()
  }

  /** Ends it at once, because its job is to end. */
  kill(): void {
    this.#wanted = true
    this.fail('was ended')
  }

  /** Lets it end: nobody needs it. */
  end(): void {
    this.#wanted = true
    this.#why ??= 'was ended'
    this.#process?.end(graceMs)
  }

  async #live(): Promise<ProgramEnd> {
    const exit = await this.#run().catch((error: Error) => ({
      how: `could not be started: ${error.message}`,
      killed: false,
    }))
    clearTimeout(this.#checkTimer)
    this.#watch?.stop()
    const wellMs = this.#healthyAt === undefined ? 0 : performance.now() - this.#healthyAt
    const { killed } = exit
    const how = this.#why ?? howItEnded(exit.how, this.#healthyAt !== undefined, this.#facts())
    const end = { how, killed: killed && !this.ending, wanted: this.#wanted, wellMs }
    this.#host.gone(this, end)
    return end
  }

  async #run(): Promise<Exit> {
    const { settings, socketDir, log } = this.#host
    const { address, command } = await assignAddress(settings.command, this.id, socketDir)
    this.#address = address
    if (this.ending) return { how: 'was ended', killed: false }
    const env: NodeJS.ProcessEnv = { ...process.env, ...settings.env }
    // The secret that workers join with is not for programs.
    delete env.PLIMSOLL_TOKEN
    if ('port' in address.connect) env.PORT = `${address.connect.port}`
    const { cwd } = settings
    const group = new ProcessGroup({ command, env, cwd }, (line) => log(`slot ${this.id}: ${line}`))
    this.#process = group
    if (group.pid !== undefined) this.#usage = new GroupUsage(group.pid)
    this.#host.started(this)
    await this.#start(group)
    return await group.gone
  }

  async #start(group: ProcessGroup): Promise<void> {
    const { now, settings } = this.#host
    const until = now() + settings.startMs
    let known: Sickness | undefined
    for (let waitMs = 20; !group.exited && !this.ending; waitMs = Math.min(250, waitMs * 1.5)) {
      const limitMs = Math.max(1, Math.min(patienceMs, until - now()))
      const found = await this.#check(limitMs)
      if (group.exited || this.ending) return
      if (!found) return this.#becomeHealthy()
      // A last look that had no time to see anything says nothing new.
      const sickness: Sickness = known && limitMs < leastLookMs ? known : found
      known = sickness
      this.trouble = sickness.why
      if (now() >= until) return this.fail(whyNotHealthy(sickness, this.#facts()))
      await Promise.race([group.gone, delay(waitMs)])
    }
  }

  #becomeHealthy(): void {
    this.#healthyAt = performance.now()
    this.idleSince = this.#healthyAt
    this.#usage?.findStrays()
    const { boundMb, log } = this.#host
    this.#lastMb = this.#usage?.memoryMb() ?? 0
    if (this.#lastMb > boundMb) {
      log(
        `slot ${this.id}: uses ${Math.ceil(this.#lastMb)} MB before any job: more than the ${boundMb} MB it may use`,
      )
    }
    this.#planCheck()
    this.#host.healthy(this)
  }

  async #check(limitMs: number): Promise<Sickness | undefined> {
    const { health } = this.#host.settings
    const sickness = await checkHealth(this.address, health, limitMs)
    const other = sickness?.silent ? otherLoopback(this.address) : undefined
    if (!other) return sickness
    const there = await checkHealth(other, health, limitMs)
    if (there?.silent) return sickness
    this.#address = other
    return there
  }

  #planCheck(): void {
    this.#checkTimer = setTimeout(() => this.#look(), this.#host.settings.healthEveryMs).unref()
  }

  /** Only while it is idle: one that takes a single job at a time could not answer. */
  async #look(): Promise<void> {
    const sickness = this.runs.size > 0 ? undefined : await this.#check(patienceMs)
    if (!this.healthy) return
    this.#failures = sickness && this.runs.size === 0 ? this.#failures + 1 : 0
    if (this.#failures < mostFailures) return this.#planCheck()
    this.fail(`not healthy any more: ${sickness!.why}, ${mostFailures} times in a row`)
  }

  #watchMemory(): void {
    const usage = this.#usage
    if (!usage) return
    this.#watch = new MemoryWatch(() => this.#lookAtMemory(usage), this.#host.boundMb, {
      over: (usedMb) => this.#host.outgrown(this, usedMb),
      looked: () => {
        for (const run of this.runs) run.sample()
      },
    })
    this.#watch.start()
  }

  #lookAtMemory(usage: GroupUsage): number | undefined {
    const usedMb = usage.memoryMb()
    if (usedMb !== undefined) this.#lastMb = usedMb
    return usedMb
  }

  #facts(): ProgramFacts {
    return {
      command: this.#host.settings.command,
      startMs: this.#host.settings.startMs,
      tookMs: this.#host.now() - this.#startedAt,
      lastLine: this.#process?.lastLine ?? '',
      pids: this.#usage?.members() ?? [],
    }
  }
}
