/** One slot: a process that runs one job after another, and all that the pool can do to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { WorkDone } from '../../model/cost.ts'
import { Channel, type FromSlot, type SlotFailure, type ToSlot } from './frames.ts'
import { Output } from './output.ts'
import { giveWay, resetPeak, rssMb } from './proc.ts'

/** A job in a slot's hands. */
export interface Occupant {
  readonly job: string
  readonly workload: string
  /** The slot has loaded the workloads: the job can be sent. */
  slotReady(): void
  message(message: FromSlot): void
  chunk(chunk: Buffer): void
  slotGone(end: SlotEnd): void
  cancel(): void
}

/** How a slot came to its end. */
export interface SlotEnd {
  /** In words, for instance "ended itself with exit code 3". */
  how: string
  /** Why the workloads could not be loaded. */
  unloadable?: string
  /** CPU time of the process at its end, if it could say. */
  cpuMs?: number
  /** Work of the job that it ended with. */
  work?: WorkDone
  failure?: SlotFailure
  /** By SIGKILL, and so not by itself. */
  killed?: boolean
  /** The runtime's own report of running out of memory. */
  outOfMemory: boolean
}

export interface SlotHost {
  ready(slot: Slot): void
  gone(slot: Slot, end: SlotEnd): void
  log(line: string): void
}

/** What a slot runs. */
export interface SlotProgram {
  command: readonly string[]
  env: NodeJS.ProcessEnv
}

/** How long output may still come after a process ended: one that left the group may hold the pipes open. */
const drainMs = 500

export class Slot {
  readonly id: number
  readonly gone: Promise<void>
  readonly #process: ChildProcess
  readonly #channel: Channel<ToSlot, FromSlot>
  readonly #output: Output
  readonly #host: SlotHost
  ready = false
  /** It had to strip or rewrite code itself, for lack of a cache. */
  cold = false
  killed = false
  #up = false
  #exited = false
  #stopped = false
  #occupant: Occupant | undefined
  #lastJob: string | undefined
  readonly #ran = new Map<string, number>()
  #idleMb: number | undefined
  #dying: Omit<SlotEnd, 'how' | 'outOfMemory'> = {}

  constructor(id: number, { command, env }: SlotProgram, host: SlotHost) {
    this.id = id
    this.#host = host
    // Leads a group of its own: signals reach what a workload started too, and a terminal's do not reach slots.
    this.#process = spawn(command[0]!, command.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
      env,
    })
    this.#output = new Output((line) => host.log(`${this.#label}: ${line}`))
    // Without file descriptors to spare there are no pipes either; an error event follows.
    const [, stdout, stderr, socket = new Socket()] = this.#process.stdio ?? []
    if (stdout) this.#output.read(stdout as Readable)
    if (stderr) this.#output.read(stderr as Readable)
    this.#channel = new Channel<ToSlot, FromSlot>(socket as Socket, {
      message: (message) => this.#message(message),
      chunk: (chunk) => this.#occupant?.chunk(chunk),
      broken: () => this.kill(),
      closed: () => {},
    })
    this.gone = this.#ended().then((how) => this.#end(how))
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get occupied(): boolean {
    return this.#occupant !== undefined
  }

  /** The job is told when the slot is ready, at once if it is. */
  take(occupant: Occupant): void {
    this.#occupant = occupant
    this.#lastJob = occupant.job
    this.#ran.set(occupant.workload, this.timesRun(occupant.workload) + 1)
    if (this.ready) occupant.slotReady()
  }

  /** The more often, the more of its code is compiled here. */
  timesRun(workload: string): number {
    return this.#ran.get(workload) ?? 0
  }

  send(...messages: (ToSlot | Uint8Array)[]): void {
    this.#channel.send(...messages)
  }

  /** The job is over. True: the slot is as good as new; otherwise the next job would pay for this one's memory. */
  release(mostGrowthMb: number): boolean {
    this.#occupant = undefined
    this.resume()
    this.#output.flush()
    if (this.pid === undefined || this.#exited) return false
    const nowMb = rssMb(this.pid)
    if (nowMb === undefined) return true
    return nowMb - (this.#idleMb ?? nowMb) <= mostGrowthMb && resetPeak(this.pid)
  }

  /** Idempotent. Before the process is up it only notes the wish: stopped that early it could outlive its parent. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    if (this.#up) this.#signal('SIGSTOP')
  }

  resume(): void {
    if (!this.#stopped) return
    this.#stopped = false
    if (this.#up) this.#signal('SIGCONT')
  }

  /** `gone` tells when it has taken effect. */
  kill(): void {
    this.killed = true
    this.#signal('SIGKILL')
  }

  /** Cancels its job, if it has one, and ends the process. */
  async close(): Promise<void> {
    this.#occupant?.cancel()
    this.kill()
    await this.gone
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined || this.#exited) return
    try {
      process.kill(-this.pid, signal)
    } catch {
      this.#process.kill(signal)
    }
  }

  get #label(): string {
    return this.#lastJob === undefined ? `slot ${this.id}` : `slot ${this.id}, job ${this.#lastJob}`
  }

  #message(message: FromSlot): void {
    if (message.type === 'hello') {
      this.#up = true
      if (this.pid !== undefined) giveWay(this.pid)
      if (this.#stopped) this.#signal('SIGSTOP')
    } else if (message.type === 'ready') {
      this.ready = true
      this.cold = message.cold
      this.#idleMb = this.pid === undefined ? undefined : rssMb(this.pid)
      this.#host.ready(this)
      this.#occupant?.slotReady()
    } else if (message.type === 'unloadable') this.#dying.unloadable = message.message
    else if (message.type === 'dying') {
      const { cpuMs, failure, work, tally } = message
      Object.assign(this.#dying, { cpuMs, ...(failure && { failure }) })
      if (work !== undefined) this.#dying.work = { work, ...(tally && { tally }) }
    } else this.#occupant?.message(message)
  }

  #ended(): Promise<string> {
    return new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(`could not be started: ${error.message}`))
      this.#process.once('exit', (code, signal) => {
        // What a workload started goes with its slot; this also closes the pipes it inherited.
        this.#signal('SIGKILL')
        this.#exited = true
        this.#dying.killed = signal === 'SIGKILL'
        const how = signal ? `was ended by ${signal}` : `ended itself with exit code ${code}`
        this.#process.once('close', () => resolve(how))
        // After a turn in which what is there already can be read.
        setTimeout(() => setImmediate(resolve, how), drainMs).unref()
      })
    })
  }

  #end(how: string): void {
    this.#channel.close()
    this.#process.stdout?.destroy()
    this.#process.stderr?.destroy()
    const outOfMemory = /out of memory|allocation failed|bad_alloc/i.test(this.#output.report)
    if (!outOfMemory) this.#output.flush()
    const end: SlotEnd = { how, outOfMemory, ...this.#dying }
    this.#host.gone(this, end)
    const occupant = this.#occupant
    this.#occupant = undefined
    occupant?.slotGone(end)
  }
}
