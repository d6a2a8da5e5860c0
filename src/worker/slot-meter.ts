/** Counts the work of a slot's jobs, one after another, and says now and then how far the job is. */
import type { Tally } from '../meter/metrics.ts'
import { type MeterRuntime, reportMs } from '../meter/runtime.ts'
import type { FromSlot, WorkDone } from './frames.ts'

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

  /** A job begins. `say` is called also from within its code, however long that goes without a pause. */
  begin(say: (message: FromSlot) => void, tallies: boolean): void {
    const report = (work: number) => {
      if (work === this.#last) return
      this.#last = work
      const at = performance.timeOrigin + performance.now()
      say({ type: 'work', work, at, ...(tallies && this.#tally()) })
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
