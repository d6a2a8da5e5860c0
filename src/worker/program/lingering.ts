/** Programs of paused jobs that go on for a while: as long as the jobs that are to run instead wait for programs to start. */

export interface Stoppable {
  stop(): void
  resume(): void
}

export class Lingering {
  readonly #programs = new Set<Stoppable>()
  readonly #waiting: () => number

  /** `waiting`: jobs that would run now if they had programs. Their cores would lie idle. */
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

  /** After fewer jobs wait. */
  settle(): void {
    const surplus = this.#programs.size - this.#waiting()
    for (const program of [...this.#programs].slice(0, Math.max(0, surplus))) {
      this.#programs.delete(program)
      program.stop()
    }
  }

  /** Its job is over. */
  forget(program: Stoppable): void {
    this.#programs.delete(program)
  }
}
