/**
 * Small jobs of a worker, which fronts send without asking the brain. They run in slots of their own: the discipline does
 * not pause them, and the brain does not count them.
 */
import type { Frame } from '../../wire/direct-frames.ts'
import type { Slot } from '../slots/slot.ts'
import type { SlotPool } from '../slots/slot-pool.ts'
import type { EndOfTurn } from './end-of-turn.ts'
import { needsSlot } from './slot-plan.ts'
import {
  type Caller,
  type SmallJob,
  type SmallJobLimits,
  SmallSlot,
  type SmallSlotHost,
} from './small-slot.ts'

export interface SmallJobsOptions {
  pool: Pick<SlotPool, 'lend' | 'notices'>
  endOfTurn: EndOfTurn
  /** Maximum number of slots for small jobs. */
  cores: number
  /** Memory limit of a job. */
  memoryMb: number
  /** Work of a job by its CPU time, if the meter is off. */
  workPerMs: number | undefined
  limits?: Partial<SmallJobLimits>
}

/** Jobs that wait for a slot; further ones are given back. */
const mostWaiting = 1_000
const usualLimits: SmallJobLimits = { slowMs: 50, firstMs: 250, waitMs: 250, idleMs: 60_000 }
/** Interval between checks of running and waiting jobs. */
const tickMs = 10

interface WaitingJob extends SmallJob {
  frame: Frame
  waitedMs: number
}

export class SmallJobs {
  readonly #options: SmallJobsOptions
  readonly #host: SmallSlotHost
  readonly #slots = new Set<SmallSlot>()
  #waiting: WaitingJob[] = []
  /** Slots that were asked for. */
  #coming = 0
  #endedDemandMs = 0
  #takesJobs = true
  /** Runs while there are jobs; then the other one does. */
  #ticker: NodeJS.Timeout | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(options: SmallJobsOptions) {
    this.#options = options
    const { memoryMb, workPerMs } = options
    this.#host = {
      ...{ memoryMb, workPerMs, limits: { ...usualLimits, ...options.limits } },
      answered: () => this.#serve(),
      changed: (workload, changes) => options.pool.notices.changed(workload, changes),
      ended: (slot) => {
        this.#slots.delete(slot)
        this.#endedDemandMs += slot.demandMs()
        this.#plan()
      },
    }
  }

  /** Number of jobs that run or wait. */
  get size(): number {
    let size = this.#waiting.length
    for (const slot of this.#slots) size += slot.size
    return size
  }

  /** CPU time that all small jobs used or waited for so far. */
  demandMs(): number {
    let ms = this.#endedDemandMs
    for (const slot of this.#slots) ms += slot.demandMs()
    return ms
  }

  /** Memory of all slots for small jobs. */
  memoryMb(): number {
    let mb = 0
    for (const slot of this.#slots) mb += slot.residentMb
    return mb
  }

  /** Runs the job of a frame, or gives it back. The caller receives exactly one answer. */
  take(caller: Caller, frame: Frame): void {
    const { id, workload } = frame
    if (!this.#takesJobs) return caller.giveBack(id, 'draining')
    if (this.#options.pool.notices.isChanging(workload)) return caller.giveBack(id, 'unsuited')
    const slot = this.#waiting.length === 0 ? this.#freest() : undefined
    if (slot) this.#run(slot, { caller, id, workload }, frame)
    else if (this.#waiting.length >= mostWaiting) caller.giveBack(id, 'busy')
    else {
      this.#waiting.push({ caller, id, workload, frame: frame.copy(), waitedMs: 0 })
      this.#plan()
    }
    if (!this.#ticker) this.#startTicks()
  }

  /** Gives the job back if it does not run yet; otherwise its answer follows. */
  cancel(caller: Caller, id: number): void {
    const at = this.#waiting.findIndex((job) => job.caller === caller && job.id === id)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    caller.giveBack(id, 'cancelled')
  }

  /** The caller is gone: its jobs do not start any more. */
  forget(caller: Caller): void {
    this.#waiting = this.#waiting.filter((job) => job.caller !== caller)
  }

  /** New jobs are given back from now on. Running jobs are still answered. */
  drain(): void {
    this.#takesJobs = false
    for (const { caller, id } of this.#waiting.splice(0)) caller.giveBack(id, 'draining')
  }

  /** New jobs are taken again: the brain that wanted it to drain has been replaced. */
  resume(): void {
    this.#takesJobs = true
  }

  /** Ends all slots, and gives back their jobs. */
  close(): void {
    this.drain()
    clearInterval(this.#ticker)
    clearTimeout(this.#idleTimer)
    this.#endSlots()
  }

  #endSlots(): void {
    for (const slot of this.#slots) slot.end('draining')
  }

  #run(slot: SmallSlot, job: SmallJob, frame: Frame): void {
    slot.run(job, frame)
    this.#options.endOfTurn.add(slot)
  }

  /** The slot that has room and the fewest jobs. */
  #freest(): SmallSlot | undefined {
    let best: SmallSlot | undefined
    for (const slot of this.#slots) if (slot.hasRoom && (!best || slot.size < best.size)) best = slot
    return best
  }

  /** Gives waiting jobs to slots that have room. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const slot = this.#freest()
      if (!slot) break
      const job = this.#waiting.shift()!
      this.#run(slot, job, job.frame)
    }
    this.#plan()
  }

  #plan(): void {
    const slots = this.#slots.size
    let usualMs = 0
    for (const slot of this.#slots) usualMs += slot.usualMs / slots
    const { cores, pool } = this.#options
    const demand = { waiting: this.#waiting.length, usualMs, slots, coming: this.#coming, cores }
    if (!this.#takesJobs || !needsSlot(demand)) return
    this.#coming++
    pool.lend(this.#waiting[0]!.workload, (slot) => this.#add(slot))
  }

  #add(slot: Slot | undefined): void {
    this.#coming--
    if (!slot) {
      for (const { caller, id } of this.#waiting.splice(0)) caller.giveBack(id, 'slot-ended')
      return
    }
    const small = new SmallSlot(slot, this.#host)
    this.#slots.add(small)
    if (this.#takesJobs) this.#serve()
    else small.end('draining')
  }

  #startTicks(): void {
    clearTimeout(this.#idleTimer)
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref()
  }

  #tick(): void {
    const { waitMs, idleMs } = this.#host.limits
    for (const slot of this.#slots) slot.tick(tickMs)
    for (const job of this.#waiting) job.waitedMs += tickMs
    while (this.#waiting.length > 0 && this.#waiting[0]!.waitedMs > waitMs) {
      const { caller, id } = this.#waiting.shift()!
      caller.giveBack(id, 'busy')
    }
    if (this.size > 0) return
    clearInterval(this.#ticker)
    this.#ticker = undefined
    this.#idleTimer = setTimeout(() => this.#endSlots(), idleMs).unref()
  }
}
