/** Counts the work of a slot's jobs, one after another, and says now and then how far the job is. */

import { type MeterRuntime, reportMs } from '../../meter/runtime.ts'
import type { WorkDone } from '../../model/cost.ts'
import type { MeterMode } from '../../model/metering.ts'
import { addTo, type Formula, type Tally, workOf } from '../../model/metrics.ts'
import type { FromSlot } from './frames.ts'

/** Of a job that has run for long it is enough to hear at this share of its age. */
const shareOfAge = 1 / 32

export interface SlotMeterOptions {
  /** In other modes than `work` the runtime knows more than the one number. */
  mode: MeterMode
  formula: Formula
  /** By workload: what one of its steps costs, where that is all that counts. */
  steps?: Readonly<Record<string, Tally>>
}

export class SlotMeter {
  readonly #runtime: MeterRuntime
  readonly #options: SlotMeterOptions
  #stepCost: Tally | undefined
  #steps = 0
  #report: ((work: number) => void) | undefined
  #reportedAt = 0
  #timer: NodeJS.Timeout | undefined
  #last = 0

  constructor(runtime: MeterRuntime, options: SlotMeterOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  /**
   * A job of this workload begins. `say` is called also from within its code, however long that goes without a pause; with `tallies` just as
   * often when the job is old.
   */
  begin(workload: string, say: (message: FromSlot) => void, tallies: boolean): void {
    this.#stepCost = this.#options.steps?.[workload]
    this.#steps = 0
    const begunAt = performance.now()
    let saidAt = begunAt
    const report = (work: number) => {
      const now = performance.now()
      if (work === this.#last || (!tallies && now - saidAt < (now - begunAt) * shareOfAge)) return
      this.#last = work
      saidAt = now
      say({ type: 'work', work, at: performance.timeOrigin + now, ...(tallies && this.#tally()) })
    }
    this.#last = 0
    this.#report = report
    this.#reportedAt = begunAt
    this.#runtime.begin(this.#stepCost ? undefined : report)
    // For a job that waits now and then, and computes too little at a time to be heard of.
    this.#timer = setInterval(() => report(this.#work()), reportMs).unref()
  }

  /** The job has done so many more of its steps. They count where it is known what one costs. */
  steps(count: number): void {
    if (!this.#stepCost) return
    this.#steps += count
    const now = performance.now()
    if (now - this.#reportedAt < reportMs) return
    this.#reportedAt = now
    this.#report?.(this.#work())
  }

  charge(units: number): void {
    this.#runtime.charge(units)
  }

  done(): WorkDone {
    return { work: this.#work(), ...this.#tally() }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#report = undefined
    this.#runtime.end()
  }

  #work(): number {
    return this.#stepCost
      ? workOf(this.#ofSteps(this.#stepCost), this.#options.formula)
      : this.#runtime.work()
  }

  #ofSteps(each: Tally): Tally {
    const tally: Tally = {}
    addTo(tally, each, this.#steps)
    return tally
  }

  #tally(): { tally?: Tally } {
    if (this.#stepCost) return { tally: this.#ofSteps(this.#stepCost) }
    return this.#options.mode === 'work' ? {} : { tally: this.#runtime.tally() }
  }
}
