/** A slot that runs small jobs, one after another. It answers them in their order. */

import { ProtocolError } from '../../lib/errors.ts'
import { passedBuffer } from '../../lib/young-buffers.ts'
import {
  type Frame,
  FrameDecoder,
  type GiveBackReason,
  longestAnswerFrame,
} from '../../wire/direct-frames.ts'
import { FrameWriter } from '../../wire/direct-writer.ts'
import { isRunnable } from '../processes/family.ts'
import { MemoryWatch } from '../processes/memory-watch.ts'
import { rssMb } from '../processes/proc.ts'
import type { FromSlot } from '../slots/frames.ts'
import type { Occupant, Slot, SlotEnd } from '../slots/slot.ts'
import { SlotCpu } from '../slots/slot-cpu.ts'
import { isSlow, jobsAhead, usualMsAfter } from './slot-plan.ts'

/** Where the answer of a job goes. */
export interface Caller {
  answer(id: number, frame: Frame): void
  giveBack(id: number, reason: GiveBackReason): void
}

/** A job, as its caller named it. */
export interface SmallJob {
  caller: Caller
  id: number
  workload: string
}

export interface SmallJobLimits {
  /** A job that runs longer is given back. */
  slowMs: number
  /** The same, for the first job of a workload in a slot: its code is not compiled yet. */
  firstMs: number
  /** A job that waits longer for a slot is given back. */
  waitMs: number
  /** A slot without jobs is ended after this time. */
  idleMs: number
}

export interface SmallSlotHost {
  memoryMb: number
  limits: SmallJobLimits
  /** Work of a job by its CPU time. Undefined: the slot counts it. */
  workPerMs: number | undefined
  /** Called when answers have arrived, so that the slot may have room. */
  answered(slot: SmallSlot): void
  /** A job changed its process. */
  changed(workload: string, changes: readonly string[]): void
  /** The slot takes no more jobs, and all of its jobs have been answered or given back. */
  ended(slot: SmallSlot): void
}

/** CPU time of a new slot's jobs, before it has answered some. */
const firstUsualMs = 1

export class SmallSlot implements Occupant {
  readonly workload = ''
  readonly #slot: Slot
  readonly #host: SmallSlotHost
  readonly #writer = new FrameWriter()
  readonly #decoder = new FrameDecoder(longestAnswerFrame, (frame) => this.#answer(frame), {
    reuses: true,
  })
  readonly #watch: MemoryWatch
  /** Jobs without an answer, in the order of their numbers; the first has the number `#firstNumber`. */
  #jobs: SmallJob[] = []
  #firstNumber = 0
  usualMs = firstUsualMs
  /** Workloads that have run here. */
  readonly #ran = new Set<string>()
  #idleMs = 0
  #isRetiring = false
  #isOver = false
  #residentMb: number
  readonly #idleMb: number
  readonly #cpu: SlotCpu
  /** The first job at the last tick, how long it has run since it was seen first, and the CPU time of the slot then. */
  #seen = { number: -1, ranMs: 0, cpuMs: 0 }

  constructor(slot: Slot, host: SmallSlotHost) {
    this.#slot = slot
    this.#host = host
    this.#idleMb = rssMb(slot.pid!) ?? 0
    this.#residentMb = this.#idleMb
    this.#cpu = new SlotCpu(slot.pid!)
    this.#watch = new MemoryWatch(() => rssMb(slot.pid!), host.memoryMb, {
      exceeded: () => this.end('slot-ended'),
      sampled: () => this.#sample(),
    })
    slot.take(this)
  }

  get pid(): number | undefined {
    return this.#slot.pid
  }
  /** When it last had jobs. */
  get residentMb(): number {
    return this.#residentMb
  }
  get size(): number {
    return this.#jobs.length
  }
  get hasRoom(): boolean {
    return !this.#isRetiring && this.#jobs.length < jobsAhead(this.usualMs)
  }

  /** The slot must have room. The job is sent with the next `flush`. */
  run(job: SmallJob, frame: Frame): void {
    if (this.#jobs.length === 0) {
      this.#idleMs = 0
      this.#watch.start()
    }
    this.#writer.pass(frame, (this.#firstNumber + this.#jobs.length) >>> 0)
    this.#jobs.push(job)
  }

  flush(): void {
    if (this.#writer.bytes > 0 && this.#slot.sendSmall(this.#writer.take())) this.#writer.reuse()
  }

  small(frames: Buffer): void {
    if (this.#isOver) return
    passedBuffer(frames.length)
    try {
      this.#decoder.push(frames)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      return this.end('slot-ended')
    }
    this.#rest()
    if (!this.#isOver) this.#host.answered(this)
  }

  message(message: FromSlot): void {
    if (message.type !== 'unfit') return
    const { workload, changes } = message
    if (changes && workload !== undefined) this.#host.changed(workload, changes)
    this.end('slot-ended')
  }

  chunk(): void {}

  cancel(): void {
    this.end('draining')
  }

  slotEnded({ cpuMs: usedMs }: SlotEnd): void {
    if (usedMs !== undefined) this.#cpu.noteTotal(usedMs)
    this.end('slot-ended')
  }

  /** CPU time of its jobs so far, with all that the slot did for them. */
  cpuMs(): number {
    if (!this.#isOver) this.#cpu.read()
    return this.#cpu.usedMs
  }

  /** CPU time that they used or waited for. */
  demandMs(): number {
    return this.cpuMs() + this.#cpu.queuedMs
  }

  /**
   * Called at intervals that are short beside the time that a job may take. Ends the slot if its first job takes longer,
   * or if it had no jobs for long.
   * Counts calls instead of reading a clock: while this process does not run, it receives no answers either.
   */
  tick(intervalMs: number): void {
    const { slowMs, firstMs, idleMs } = this.#host.limits
    if (this.#jobs.length === 0) {
      this.#idleMs += intervalMs
      if (this.#idleMs >= idleMs) this.end('slot-ended')
      return
    }
    const seen = this.#seen
    if (seen.number !== this.#firstNumber) {
      this.#seen = { number: this.#firstNumber, ranMs: 0, cpuMs: 0 }
      return
    }
    if (seen.ranMs === 0) seen.cpuMs = this.cpuMs()
    seen.ranMs += intervalMs
    const { ranMs } = seen
    const limitMs = this.#ran.has(this.#jobs[0]!.workload) ? slowMs : firstMs
    if (ranMs < limitMs) return
    const job = { ranMs, cpuMs: this.cpuMs() - seen.cpuMs, isRunnable: isRunnable(this.pid!) }
    if (isSlow(job, limitMs)) this.end('slot-ended', 'slow')
  }

  /** Ends the process and gives back its jobs; `first`: the reason for the one that runs. Idempotent. */
  end(reason: GiveBackReason, first = reason): void {
    if (this.#isOver) return
    this.cpuMs()
    this.#isOver = true
    this.#isRetiring = true
    this.#watch.stop()
    this.#slot.kill()
    const jobs = this.#jobs
    this.#jobs = []
    jobs.forEach(({ caller, id }, i) => {
      caller.giveBack(id, i === 0 ? first : reason)
    })
    this.#host.ended(this)
  }

  #answer(frame: Frame): void {
    if (this.#isOver) return
    frame.checkAnswer()
    const job = this.#jobs.shift()
    if (!job || frame.id !== this.#firstNumber)
      throw new ProtocolError(`an answer to job ${frame.id}, which is not next`)
    this.#firstNumber = (this.#firstNumber + 1) >>> 0
    this.usualMs = usualMsAfter(this.usualMs, frame.wallMs)
    frame.peakMemoryMb = this.#residentMb
    if (this.#host.workPerMs !== undefined) frame.work = Math.round(frame.cpuMs * this.#host.workPerMs)
    this.#ran.add(job.workload)
    job.caller.answer(job.id, frame)
  }

  /** After its last job. */
  #rest(): void {
    if (this.#jobs.length > 0) return
    if (this.#isRetiring) return this.end('slot-ended')
    this.#watch.stop()
  }

  /** A slot that keeps too much memory of its jobs takes no more of them. */
  #sample(): void {
    this.#residentMb = this.#watch.lastMb
    if (this.#residentMb - this.#idleMb > this.#host.memoryMb / 4) this.#isRetiring = true
  }
}
