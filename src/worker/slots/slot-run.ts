/** Runs one job in a slot: sends it, receives its messages, and determines how it ended. */
import { AnswerBroken } from '../../lib/errors.ts'
import type { WorkDone } from '../../model/cost.ts'
import type { Exceeded, JobAnswer, JobFailure, JobRequest, JobRun, JobUsage } from '../job-run.ts'
import { isRunnable, isStopped } from '../processes/family.ts'
import { MemoryWatch } from '../processes/memory-watch.ts'
import { demandMs, peakMb, rssMb } from '../processes/proc.ts'
import type { Stoppable } from '../program/deferred-stops.ts'
import { AnswerBody, BodyPump } from './body-streams.ts'
import type { FromSlot } from './frames.ts'
import type { Occupant, Slot, SlotEnd } from './slot.ts'
import { SlotCpu } from './slot-cpu.ts'
import { type JobMemory, memoryFailure, slotFailure } from './slot-failure.ts'

export interface SlotRunHost {
  memoryMb: number
  /** Requests a slot, which is passed to `use` when the job is not paused. Idempotent. */
  request(run: SlotRun): void
  /** The job no longer waits for a slot. */
  withdraw(run: SlotRun): void
  /** Stops the job's slot, unless the core would then be idle until another slot has booted. */
  pause(process: Stoppable): void
  resume(process: Stoppable): void
  /** The process must not be stopped any more. */
  forget(process: Stoppable): void
  /** The job has ended. A slot that is not reusable must be killed. `changes`: what the job changed in its process. */
  ended(slot: Slot, reusable: boolean, changes?: readonly string[]): void
}

/** Interval between samples of CPU time, which is otherwise unknown if the job crashes its process. */
const sampleMs = 100

/** An earlier job may have broken the slot, so that it ends just when it receives the next job. */
const maxRestarts = 2

export class SlotRun implements JobRun, Occupant {
  readonly #request: JobRequest
  readonly #host: SlotRunHost
  readonly #answer = Promise.withResolvers<JobAnswer>()
  readonly #ended = Promise.withResolvers<JobUsage>()
  readonly #startedAt = performance.now()
  readonly #pump: BodyPump | undefined
  readonly #process: Stoppable = {
    stop: () => {
      this.#watch?.stop()
      this.#slot?.stop()
    },
    resume: () => {
      this.#slot?.resume()
      this.#watch?.start()
    },
  }
  #slot: Slot | undefined
  #watch: MemoryWatch | undefined
  #body: AnswerBody | undefined
  /** Undefined: the job has not begun. */
  #cpu: SlotCpu | undefined
  #sampledAt = 0
  #lastWork: (WorkDone & { at: number }) | undefined
  #peakMb = 0
  #restarts = 0
  /** The job asked to be uninterrupted while it was paused. */
  #holdPending = false
  #settled = false
  paused = false
  interruptible = true
  onInterruptible?: () => void
  onWork?: () => void
  progress: number | undefined

  constructor(request: JobRequest, host: SlotRunHost) {
    this.#request = request
    this.#host = host
    this.#pump = request.body && new BodyPump(request.body)
  }

  get job(): string {
    return this.#request.job
  }
  get workload(): string {
    return this.#request.workload
  }
  get answer(): Promise<JobAnswer> {
    return this.#answer.promise
  }
  get ended(): Promise<JobUsage> {
    return this.#ended.promise
  }
  get pid(): number | undefined {
    return this.#slot?.pid
  }

  /** CPU time that the job is expected to need from now on; unknown: Infinity. */
  remainingMs(): number {
    return this.#request.remainingMs?.() ?? Infinity
  }

  /** Sends the job to a slot that is ready. */
  use(slot: Slot): void {
    this.#slot = slot
    slot.take(this)
    const { job, attempt, workload, params, body, tallies = false } = this.#request
    slot.send({ type: 'job', job, attempt, workload, params, hasBody: body !== undefined, tallies })
  }

  /** A slot could not be started or could not load the workloads. The job fails if the next one would fail as well. */
  bootFailed(end: SlotEnd): void {
    if (end.unloadable === undefined && this.#restarts++ < maxRestarts) return
    this.#fail(slotFailure(end, this.workload, this.#memory()))
  }

  pause(): void {
    if (this.#settled || this.paused || !this.interruptible) return
    this.paused = true
    if (this.#slot) this.#host.pause(this.#process)
    else this.#host.request(this)
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (this.#settled) return
    if (this.#holdPending) this.#hold()
    if (this.#slot) this.#host.resume(this.#process)
    else this.#host.request(this)
  }

  cancel(): void {
    this.#kill({ kind: 'cancelled' })
  }

  exceed(message: string, { kind = 'limit', status }: Exceeded = {}): void {
    this.#kill({ kind, message, ...(status !== undefined && { status }) })
  }

  cpuMs(): number {
    if (!this.#settled) this.#cpu?.read()
    return this.#cpu?.usedMs ?? 0
  }

  queuedMs(): number {
    return this.#cpu?.queuedMs ?? 0
  }

  demandMs(): number | undefined {
    return this.#settled || !this.#begun || this.pid === undefined ? undefined : demandMs(this.pid)
  }

  isRunnable(): boolean {
    return this.pid !== undefined && (isRunnable(this.pid) || isStopped(this.pid))
  }

  work(): (WorkDone & { at: number }) | undefined {
    return this.#lastWork
  }

  moved(): boolean {
    return this.#body?.moved() ?? false
  }

  chunk(chunk: Buffer): void {
    this.#body?.receive(chunk)
  }

  message(message: FromSlot): void {
    if (this.#settled) return
    if (message.type === 'begun') this.#begin(message.cpuMs)
    else if (message.type === 'credit') this.#pump?.grant(message.bytes)
    else if (message.type === 'progress') this.progress = message.fraction
    else if (message.type === 'work') {
      this.#noteWork(message, message.at)
      this.onWork?.()
    } else if (message.type === 'hold') {
      if (this.paused) this.#holdPending = true
      else this.#hold()
    } else if (message.type === 'release') this.#setInterruptible(true)
    else if (message.type === 'head') {
      const { type: _, ...head } = message
      this.#body = new AnswerBody((bytes) => this.#slot?.send({ type: 'credit', bytes }))
      this.#answer.resolve({ kind: 'result', ...head, body: this.#body })
    } else if (message.type === 'end') this.#finish(message)
  }

  slotEnded(end: SlotEnd): void {
    if (!this.#settled && !this.#begun && end.unloadable === undefined && this.#restarts++ < maxRestarts) {
      this.#slot = undefined
      return this.#host.request(this)
    }
    if (end.cpuMs !== undefined) this.#cpu?.noteTotal(end.cpuMs)
    if (end.work && this.#begun && !this.#settled) this.#noteWork(end.work)
    if (!this.#settled) this.#settle(slotFailure(end, this.workload, this.#memory()))
    this.#conclude()
  }

  get #begun(): boolean {
    return this.#cpu !== undefined
  }

  #begin(baseCpuMs: number): void {
    const slot = this.#slot!
    this.#cpu = new SlotCpu(slot.pid!, baseCpuMs)
    this.#watch = new MemoryWatch(() => rssMb(slot.pid!), this.#host.memoryMb, {
      exceeded: (usedMb) => {
        this.#peakMb = usedMb
        this.#kill(memoryFailure('it grew too large', this.#memory()))
      },
      sampled: () => this.#sample(),
    })
    if (!this.paused) this.#watch.start()
    this.#pump?.start(
      (piece) => slot.send(piece),
      (error) => slot.send({ type: 'body-end', ...(error !== undefined && { error }) }),
    )
  }

  #sample(): void {
    this.#peakMb = Math.max(this.#peakMb, this.#watch?.peakMb ?? 0)
    if (performance.now() - this.#sampledAt < sampleMs) return
    this.#sampledAt = performance.now()
    this.cpuMs()
  }

  #hold(): void {
    this.#holdPending = false
    this.#slot!.send({ type: 'held' })
    this.#setInterruptible(false)
  }

  #setInterruptible(value: boolean): void {
    if (this.interruptible === value) return
    this.interruptible = value
    this.onInterruptible?.()
  }

  #noteWork({ work, tally }: WorkDone, at = Date.now()): void {
    this.#lastWork = { work, at, ...(tally && { tally }) }
  }

  #finish({ cpuMs, maxRssMb, failure, work, tally, changes }: Extract<FromSlot, { type: 'end' }>): void {
    this.#cpu!.read().usedMs = cpuMs
    if (work !== undefined) this.#noteWork({ work, ...(tally && { tally }) })
    this.#peakMb = peakMb(this.pid!) ?? maxRssMb
    const limit = failure?.kind === 'limit' && memoryFailure(failure.message, this.#memory())
    this.#settle(limit || (failure as JobFailure | undefined))
    const slot = this.#slot!
    // The job's last output is already in the pipes; it is read before the slot receives another job.
    setImmediate(() => {
      this.#host.ended(slot, !limit, changes)
      this.#conclude()
    })
  }

  #kill(failure: JobFailure): void {
    if (this.#settled) return
    if (!this.#slot) return this.#fail(failure)
    this.cpuMs()
    this.#peakMb = Math.max(this.#peakMb, (this.pid !== undefined && peakMb(this.pid)) || 0)
    this.#settle(failure)
    this.#slot.kill()
  }

  /** Ends a job that has no slot. */
  #fail(failure: JobFailure): void {
    this.#settle(failure)
    this.#host.withdraw(this)
    this.#conclude()
  }

  /** Fixes the outcome: later messages from the slot are ignored. */
  #settle(failure: JobFailure | undefined): void {
    this.#settled = true
    this.#host.forget(this.#process)
    this.#watch?.stop()
    this.#pump?.stop()
    if (!failure) this.#body?.push(null)
    else if (!this.#body) this.#answer.resolve(failure)
    else {
      const message = failure.kind === 'cancelled' ? 'the job was cancelled' : failure.message
      this.#body.destroy(new AnswerBroken(failure.kind, message))
    }
  }

  #conclude(): void {
    this.paused = false
    this.#setInterruptible(true)
    const { work, tally } = this.#lastWork ?? {}
    this.#ended.resolve({
      cpuMs: this.#cpu?.usedMs ?? 0,
      queuedMs: this.queuedMs(),
      wallMs: performance.now() - this.#startedAt,
      peakMemoryMb: this.#peakMb,
      ...(work !== undefined && { work }),
      ...(tally && { tally }),
    })
  }

  #memory(): JobMemory {
    return { usedMb: this.#peakMb, limitMb: this.#host.memoryMb }
  }
}
