/** Counts the work of a slot's jobs, one after another, and says now and then how far the job is. */
import type { Tally } from '../meter/metrics.ts'
import { type MeterRuntime, reportMs } from '../meter/runtime.ts'
import type { FromSlot, WorkDone } from './frames.ts'

/** Of a job that has run for long it is enough to hear at this share of its age. */
const shareOfAge = 1 / 32

export class SlotMeter {
  readonly #runtime: MeterRuntime
  readonly #counts: boolean
  #timer: NodeJS.Timeout | undefined
  #last = 0

  /** `counts`: the runtime knows more than the one number. */
  constructor(runtime: MeterRuntime, counts: boolean) {
    this.#runtime = runtime
    this.#counts = counts
  }

  /**
   * A job begins. `say` is called also from within its code, however long that goes without a pause; with `tallies` just as
   * often when the job is old.
   */
  begin(say: (message: FromSlot) => void, tallies: boolean): void {
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
    this.#runtime.begin(report)
    // For a job that waits now and then, and computes too little at a time to be heard of.
    this.#timer = setInterval(() => report(this.#runtime.work()), reportMs).unref()
  }

  charge(units: number): void {
    this.#runtime.charge(units)
  }

  done(): WorkDone {
    return { work: this.#runtime.work(), ...this.#tally() }
  }

  end(): void {
    clearInterval(this.#timer)
    this.#runtime.end()
  }

  #tally(): { tally?: Tally } {
    return this.#counts ? { tally: this.#runtime.tally() } : {}
  }
}
