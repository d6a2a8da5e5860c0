/** Ends idle programs beyond those that are to be kept ready, once they were not needed for a while. */
import type { Program } from './program.ts'

export interface SurplusOptions {
  warm: number
  /** Jobs that a program takes at a time. */
  concurrency: number
  afterMs: number
}

export class Surplus {
  readonly #options: SurplusOptions
  readonly #programs: ReadonlyMap<number, Program>
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: SurplusOptions, programs: ReadonlyMap<number, Program>) {
    this.#options = options
    this.#programs = programs
  }

  /** A program has become idle. */
  plan(): void {
    if (this.#closed || this.#timer || this.#surplus().length === 0) return
    this.#timer = setTimeout(() => this.#trim(), this.#options.afterMs).unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** Those that were idle longest: the last one freed is used first. */
  #surplus(): Program[] {
    const { warm, concurrency } = this.#options
    const idle = [...this.#programs.values()]
      .filter(({ healthy, runs }) => healthy && runs.size === 0)
      .sort((a, b) => a.idleSince - b.idleSince)
    // Those that take several jobs are there for all of them, so the busy ones count too.
    const all = concurrency === 1 ? idle.length : this.#programs.size
    return idle.slice(0, Math.max(0, all - warm))
  }

  #trim(): void {
    this.#timer = undefined
    const before = performance.now() - this.#options.afterMs
    for (const program of this.#surplus()) if (program.idleSince <= before) program.end()
    this.plan()
  }
}
