/** Measures the work of a slot's jobs, one after another, and reports it while a job runs. */

import { type MeterRuntime, reportMs } from '../../meter/runtime.ts'
import type { WorkDone } from '../../model/cost.ts'
import type { MeterMode } from '../../model/metering.ts'
import { addTo, type Formula, type Tally, workOf } from '../../model/metrics.ts'
import type { FromSlot } from '../slots/frames.ts'

/** Minimum interval between reports, as a share of the job's age. */
const shareOfAge = 1 / 32

export interface SlotMeterOptions {
  /** In modes other than `work`, the runtime also knows tallies. */
  mode: MeterMode
  formula: Formula
  /** Cost of a step, for workloads whose steps are counted instead of their code. */
  steps?: Readonly<Record<string, Tally>>
  /** Groups of the modules whose work counts, by workloads that do not count all. */
  groups?: Readonly<Record<string, readonly number[]>>
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
   * Starts a job. `send` is also called from inside the job's code, even if that never yields; without it nothing is
   * reported before the end. With `tallies` the interval between reports does not grow with the job's age.
   */
  begin(workload: string, send?: (message: FromSlot) => void, tallies = false): void {
    this.#stepCost = this.#options.steps?.[workload]
    this.#steps = 0
    const groups = this.#options.groups?.[workload]
    if (send) this.#beginReports(send, tallies, groups)
    else this.#runtime.begin(undefined, groups)
  }

  #beginReports(
    send: (message: FromSlot) => void,
    tallies: boolean,
    groups: readonly number[] | undefined,
  ): void {
    const begunAt = performance.now()
    let sentAt = begunAt
    const report = (work: number) => {
      const now = performance.now()
      if (work === this.#last || (!tallies && now - sentAt < (now - begunAt) * shareOfAge)) return
      this.#last = work
      sentAt = now
      send({ type: 'work', work, at: performance.timeOrigin + now, ...(tallies && this.#tally()) })
    }
    this.#last = 0
    this.#report = report
    this.#reportedAt = begunAt
    this.#runtime.begin(this.#stepCost ? undefined : report, groups)
    // Covers jobs that compute only briefly between waits, so that the metered code never reports.
    this.#timer = setInterval(() => report(this.#work()), reportMs).unref()
  }

  /** Adds completed steps. They count only if the cost of a step is known. */
  steps(count: number): void {
    if (!this.#stepCost) return
    this.#steps += count
    if (!this.#report) return
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
