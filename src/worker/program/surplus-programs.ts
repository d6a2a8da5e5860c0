/** Ends idle programs beyond the warm ones when they were not needed for a while. */
import { hasConnections } from './open-connections.ts'
import type { Program } from './program.ts'

export interface SurplusProgramsOptions {
  warm: number
  /** Jobs that a program runs at a time. */
  concurrency: number
  afterMs: number
}

export class SurplusPrograms {
  readonly #options: SurplusProgramsOptions
  readonly #programs: ReadonlyMap<number, Program>
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: SurplusProgramsOptions, programs: ReadonlyMap<number, Program>) {
    this.#options = options
    this.#programs = programs
  }

  /** Called when a program has become idle. */
  plan(): void {
    if (this.#closed || this.#timer || this.#surplus().length === 0) return
    this.#timer = setTimeout(() => this.#trim(), this.#options.afterMs).unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** The programs that were idle longest: jobs use the last program freed first. */
  #surplus(): Program[] {
    const { warm, concurrency } = this.#options
    const idle = [...this.#programs.values()]
      .filter(({ healthy, runs }) => healthy && runs.size === 0)
      .sort((a, b) => a.idleSince - b.idleSince)
    // With a concurrency above 1, `warm` programs serve all jobs, so busy programs count too.
    const all = concurrency === 1 ? idle.length : this.#programs.size
    return idle.slice(0, Math.max(0, all - warm))
  }

  #trim(): void {
    this.#timer = undefined
    const before = performance.now() - this.#options.afterMs
    for (const program of this.#surplus())
      if (program.idleSince <= before && !this.#hasClients(program)) program.end()
    this.plan()
  }

  /** Fronts send requests directly to programs with a concurrency above 1. Idle connections do not last as long as `afterMs`. */
  #hasClients({ address }: Program): boolean {
    return this.#options.concurrency > 1 && 'port' in address.connect && hasConnections(address.connect.port)
  }
}
