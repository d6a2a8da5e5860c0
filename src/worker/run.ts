/** Takes one job through a slot: sends it, follows it, and settles how it ended. */
import { AnswerBroken } from '../lib/errors.ts'
import type { WorkDone } from '../model/cost.ts'
import { AnswerBody, BodyPump } from './slots/bodies.ts'
import type { FromSlot } from './slots/frames.ts'
import { MemoryWatch } from './slots/memory-watch.ts'
import { cpuMs, peakMb, rssMb } from './slots/proc.ts'
import type { Occupant, Slot, SlotEnd } from './slots/slot.ts'
import type { FailedAnswer, SlotAnswer, SlotJobRequest, SlotRun, SlotUsage } from './slots/slot-run.ts'

export interface RunHost {
  memoryMb: number
  /** The job is over; `spoilt`: its slot must not be used again. */
  over(slot: Slot, spoilt: boolean): void
  /** A slot in place of one that ended before the job began. */
  another(workload: string): Slot
}

/** CPU time is looked at this often, for the account of a job that takes its process down. */
const sampleMs = 100

/** A slot may die of what an earlier job left behind just as it gets the next. */
const mostTries = 2

export class Run implements SlotRun, Occupant {
  readonly #request: SlotJobRequest
  readonly #host: RunHost
  readonly #answer = Promise.withResolvers<SlotAnswer>()
  readonly #ended = Promise.withResolvers<SlotUsage>()
  readonly #startedAt = performance.now()
  readonly #pump: BodyPump | undefined
  #slot: Slot | undefined
  #watch: MemoryWatch | undefined
  #body: AnswerBody | undefined
  /** What the process had used when the job began; undefined before. */
  #baseCpuMs: number | undefined
  #lastCpuMs = 0
  #sampledAt = 0
  #lastWork: (WorkDone & { at: number }) | undefined
  #peakMb = 0
  #tries = 0
  #holdAsked = false
  #settled = false
  paused = false
  interruptible = true
  onInterruptible?: () => void
  onWork?: () => void
  progress: number | undefined

  constructor(request: SlotJobRequest, host: RunHost) {
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
  get answer(): Promise<SlotAnswer> {
    return this.#answer.promise
  }
  get ended(): Promise<SlotUsage> {
    return this.#ended.promise
  }
  get pid(): number | undefined {
    return this.#slot?.pid
  }

  use(slot: Slot): void {
    this.#slot = slot
    if (this.paused) slot.stop()
    slot.take(this)
  }

  pause(): void {
    if (this.#settled || this.paused || !this.interruptible) return
    this.paused = true
    this.#watch?.stop()
    this.#slot?.stop()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (this.#settled) return
    if (this.#holdAsked) this.#hold()
    this.#slot?.resume()
    this.#watch?.start()
  }

  cancel(): void {
    this.#kill({ kind: 'cancelled' })
  }

  cpuMs(): number {
    if (this.#settled || this.#baseCpuMs === undefined || this.pid === undefined) return this.#lastCpuMs
    const now = cpuMs(this.pid)
    if (now !== undefined) this.#lastCpuMs = Math.max(this.#lastCpuMs, now - this.#baseCpuMs)
    return this.#lastCpuMs
  }

  work(): (WorkDone & { at: number }) | undefined {
    return this.#lastWork
  }

  slotReady(): void {
    const { job, attempt, workload, params, body, tallies = false } = this.#request
    this.#slot!.send({ type: 'job', job, attempt, workload, params, hasBody: body !== undefined, tallies })
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
      if (this.paused) this.#holdAsked = true
      else this.#hold()
    } else if (message.type === 'release') this.#setInterruptible(true)
    else if (message.type === 'head') {
      const { status, contentType, headers } = message
      this.#body = new AnswerBody((bytes) => this.#slot?.send({ type: 'credit', bytes }))
      this.#answer.resolve({ kind: 'result', status, contentType, headers, body: this.#body })
    } else if (message.type === 'end') this.#finish(message)
  }

  slotGone(end: SlotEnd): void {
    if (!this.#settled && !this.#begun && end.unloadable === undefined && this.#tries++ < mostTries) {
      return this.use(this.#host.another(this.workload))
    }
    if (end.cpuMs !== undefined && this.#begun) this.#lastCpuMs = end.cpuMs - this.#baseCpuMs!
    if (end.work && this.#begun && !this.#settled) this.#noteWork(end.work)
    if (!this.#settled) this.#settle(this.#explain(end))
    this.#conclude()
  }

  get #begun(): boolean {
    return this.#baseCpuMs !== undefined
  }

  #begin(baseCpuMs: number): void {
    const slot = this.#slot!
    this.#baseCpuMs = baseCpuMs
    this.#watch = new MemoryWatch(() => rssMb(slot.pid!), this.#host.memoryMb, {
      over: (usedMb) => {
        this.#peakMb = usedMb
        this.#kill(this.#limit('it grew too large'))
      },
      looked: () => this.#sample(),
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
    this.#holdAsked = false
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

  #finish({ cpuMs, maxRssMb, failure, work, tally }: Extract<FromSlot, { type: 'end' }>): void {
    this.#lastCpuMs = cpuMs
    if (work !== undefined) this.#noteWork({ work, ...(tally && { tally }) })
    this.#peakMb = peakMb(this.pid!) ?? maxRssMb
    const limit = failure?.kind === 'limit' && this.#limit(failure.message)
    this.#settle(limit || (failure as FailedAnswer | undefined))
    const slot = this.#slot!
    // What the job printed last is in the pipes by now; it is read before the slot gets another job.
    setImmediate(() => {
      this.#host.over(slot, Boolean(limit))
      this.#conclude()
    })
  }

  #kill(failure: FailedAnswer): void {
    if (this.#settled) return
    this.cpuMs()
    this.#peakMb = Math.max(this.#peakMb, (this.pid !== undefined && peakMb(this.pid)) || 0)
    this.#settle(failure)
    this.#slot!.kill()
  }

  /** From here on nothing that the slot says counts. */
  #settle(failure: FailedAnswer | undefined): void {
    this.#settled = true
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
      cpuMs: this.#lastCpuMs,
      wallMs: performance.now() - this.#startedAt,
      peakMemoryMb: this.#peakMb,
      ...(work !== undefined && { work }),
      ...(tally && { tally }),
    })
  }

  #explain({ how, unloadable, failure, outOfMemory, killed }: SlotEnd): FailedAnswer {
    if (outOfMemory) return this.#limit('its JavaScript heap is full')
    if (failure?.kind === 'limit') return this.#limit(failure.message)
    if (unloadable !== undefined)
      return { kind: 'crash', message: `the workloads cannot be loaded: ${unloadable}` }
    const why = failure ? `threw where nobody catches: ${failure.message}` : how
    const kind = killed && !failure ? 'killed' : 'crash'
    return { kind, message: `the process of workload ${this.#request.workload} ${why}` }
  }

  #limit(why: string): FailedAnswer {
    const usedMb = Math.ceil(this.#peakMb)
    const message = `out of memory: ${why}; it used ${usedMb} MB, and a job may use ${this.#host.memoryMb} MB`
    return { kind: 'limit', message }
  }
}
