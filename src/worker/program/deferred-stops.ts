/** Keeps programs of paused jobs running while the jobs that preempted them wait for programs to start. */

export interface Stoppable {
  stop(): void
  resume(): void
}

export class DeferredStops {
  readonly #programs = new Set<Stoppable>()
  readonly #waiting: () => number

  /** `waiting` is the number of unpaused jobs without a program: their cores would be idle. */
  constructor(waiting: () => number) {
    this.#waiting = waiting
  }

  pause(program: Stoppable): void {
    this.#programs.add(program)
    this.settle()
  }

  resume(program: Stoppable): void {
    this.#programs.delete(program)
    program.resume()
  }

  /** Stops the programs that no waiting job needs running. Called when fewer jobs wait. */
  settle(): void {
    const surplus = this.#programs.size - this.#waiting()
    for (const program of [...this.#programs].slice(0, Math.max(0, surplus))) {
      this.#programs.delete(program)
      program.stop()
    }
  }

  /** The program's job has ended. */
  delete(program: Stoppable): void {
    this.#programs.delete(program)
  }
}
