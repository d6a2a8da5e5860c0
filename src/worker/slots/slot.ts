/** One slot: a process that runs one job after another, and the means to control it. */
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { WorkDone } from '../../model/cost.ts'
import { markName } from '../processes/marks.ts'
import { lowerPriority, resetPeak, rssMb } from '../processes/proc.ts'
import { killFamily, signalGroup } from '../processes/signal-group.ts'
import { startProcess } from '../processes/start-process.ts'
import { Channel, type FromSlot, type SlotFailure, type ToSlot } from './frames.ts'
import { SlotOutput } from './slot-output.ts'

/** A job in a slot, or small jobs, one after another. */
export interface Occupant {
  /** Undefined: small jobs. */
  readonly job?: string
  readonly workload: string
  message(message: FromSlot): void
  chunk(chunk: Buffer): void
  /** Answers to small jobs. */
  small?(frames: Buffer): void
  slotEnded(end: SlotEnd): void
  cancel(): void
}

/** How a slot ended. */
export interface SlotEnd {
  /** For instance "exited with code 3". */
  how: string
  /** Why the workloads could not be loaded. */
  unloadable?: string
  /** CPU time of the process, if it reported it before its end. */
  cpuMs?: number
  /** Work of its last job. */
  work?: WorkDone
  failure?: SlotFailure
  /** Ended by SIGKILL. */
  killed?: boolean
  /** Killed because it sent something that no slot sends: its job broke it. */
  broken?: boolean
  /** The runtime reported that it ran out of memory. */
  outOfMemory: boolean
}

export interface SlotHost {
  ready(slot: Slot): void
  ended(slot: Slot, end: SlotEnd): void
  log(line: string): void
}

export interface SlotCommand {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  /** 0: the priority of the worker. */
  niceness: number
}

/** Maximum wait for output after a process ended: a process that left the group may keep the pipes open. */
const drainMs = 500

export class Slot {
  readonly id: number
  /** Finds processes that its jobs started. */
  readonly mark: string
  readonly ended: Promise<void>
  readonly #process: ChildProcess
  readonly #channel: Channel<ToSlot, FromSlot>
  readonly #output: SlotOutput
  readonly #host: SlotHost
  readonly #niceness: number
  /** The slot had to strip or rewrite code itself, because it was not in the cache. */
  cold = false
  killed = false
  readonly #startedAt = performance.now()
  /** Time from the start of the process until the workloads were loaded; undefined: it still boots. */
  bootMs: number | undefined
  #exited = false
  #stopped = false
  #occupant: Occupant | undefined
  #lastJob: string | undefined
  /** The workload of its last job. */
  lastWorkload = ''
  readonly #ran = new Map<string, number>()
  #idleMb: number | undefined
  #dying: Omit<SlotEnd, 'how' | 'outOfMemory'> = {}

  constructor(id: number, mark: string, { command, env, niceness }: SlotCommand, host: SlotHost) {
    this.id = id
    this.mark = mark
    this.#niceness = niceness
    this.#host = host
    // A process group of its own: signals also reach processes that a workload starts, and Ctrl-C does not reach slots.
    this.#process = startProcess(command, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
      env: { ...env, [markName]: mark },
    })
    this.#output = new SlotOutput((line) => host.log(`${this.#label}: ${line}`))
    // If no file descriptors are available, there are no pipes; an error event follows.
    const [, stdout, stderr, socket = new Socket()] = this.#process.stdio ?? []
    if (stdout) this.#output.read(stdout as Readable)
    if (stderr) this.#output.read(stderr as Readable)
    this.#channel = new Channel<ToSlot, FromSlot>(socket as Socket, {
      message: (message) => this.#message(message),
      chunk: (chunk) => this.#occupant?.chunk(chunk),
      small: (frames) => this.#occupant?.small?.(frames),
      broken: () => {
        this.#dying.broken = true
        this.kill()
      },
      closed: () => {},
    })
    this.ended = this.#exit().then((how) => this.#end(how))
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get ready(): boolean {
    return this.bootMs !== undefined
  }

  get occupied(): boolean {
    return this.#occupant !== undefined
  }

  /** The slot must be ready: a slot that still boots has no job, and so is never stopped. */
  take(occupant: Occupant): void {
    this.#occupant = occupant
    this.#lastJob = occupant.job
    this.lastWorkload = occupant.workload
    this.#ran.set(occupant.workload, this.timesRun(occupant.workload) + 1)
  }

  /** The more often a workload ran here, the more of its code is compiled. */
  timesRun(workload: string): number {
    return this.#ran.get(workload) ?? 0
  }

  send(...messages: (ToSlot | Uint8Array)[]): void {
    this.#channel.send(...messages)
  }

  /** Sends small jobs: complete frames. */
  sendSmall(frames: Uint8Array): boolean {
    return this.#channel.sendSmall(frames)
  }

  /** The job has ended. Returns false if the slot kept too much of the job's memory to be reused. */
  release(maxGrowthMb: number): boolean {
    this.#occupant = undefined
    this.resume()
    this.#output.flush()
    if (this.pid === undefined || this.#exited) return false
    const nowMb = rssMb(this.pid)
    if (nowMb === undefined) return true
    return nowMb - (this.#idleMb ?? nowMb) <= maxGrowthMb && resetPeak(this.pid)
  }

  /** Idempotent. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#signal('SIGSTOP')
  }

  resume(): void {
    if (!this.#stopped) return
    this.#stopped = false
    this.#signal('SIGCONT')
  }

  /** `ended` resolves when the process has exited. */
  kill(): void {
    this.killed = true
    if (!this.#exited) killFamily(this.#process)
  }

  /** Cancels the slot's job, if any, and ends the process. */
  async close(): Promise<void> {
    this.#occupant?.cancel()
    this.kill()
    await this.ended
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#exited) signalGroup(this.#process, signal)
  }

  get #label(): string {
    return this.#lastJob === undefined ? `slot ${this.id}` : `slot ${this.id}, job ${this.#lastJob}`
  }

  #message(message: FromSlot): void {
    if (message.type === 'hello') {
      if (this.pid !== undefined) lowerPriority(this.pid, this.#niceness)
    } else if (message.type === 'ready') {
      this.bootMs = performance.now() - this.#startedAt
      this.cold = message.cold
      this.#idleMb = this.pid === undefined ? undefined : rssMb(this.pid)
      this.#host.ready(this)
    } else if (message.type === 'unloadable') this.#dying.unloadable = message.message
    else if (message.type === 'dying') {
      const { cpuMs, failure, work, tally } = message
      Object.assign(this.#dying, { cpuMs, ...(failure && { failure }) })
      if (work !== undefined) this.#dying.work = { work, ...(tally && { tally }) }
    } else this.#occupant?.message(message)
  }

  #exit(): Promise<string> {
    return new Promise((resolve) => {
      this.#process.on('error', (error) => {
        // The error may also be that of a signal; then the process is alive.
        if (this.pid === undefined) resolve(`could not be started: ${error.message}`)
      })
      this.#process.once('exit', (code, signal) => {
        // Kills processes that a workload started; this also closes the pipes that they inherited.
        this.#signal('SIGKILL')
        this.#exited = true
        this.#dying.killed = signal === 'SIGKILL'
        const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
        this.#process.once('close', () => resolve(how))
        // Output that has already arrived is read first.
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
    this.#host.ended(this, end)
    const occupant = this.#occupant
    this.#occupant = undefined
    // An uncaught exception was printed with its stack. Small jobs run again, and a slot may be ended on purpose.
    if (occupant?.job !== undefined && !this.killed && !end.failure) {
      const reason = outOfMemory ? 'ran out of memory' : how
      this.#host.log(`${this.#label}: the process of workload ${occupant.workload} ${reason}`)
    }
    occupant?.slotEnded(end)
  }
}
