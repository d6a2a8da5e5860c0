/** Clients that wait for the answers of kept jobs. If the front ends first, they are told where their jobs are. */

export interface Wait {
  /** The job is stored: the client can be told of it. */
  stored(answer: () => void): void
  /** The client has an answer, or has left. */
  over(): void
}

/** A request that was just passed on may be stored within this time. */
const storingMs = 400

export class WaitingClients {
  readonly #all = new Set<Waiting>()
  #isEnding = false

  /** `refuse`: the front ends, and the job is not known to be stored. */
  add(refuse: () => void): Wait {
    const waiting = new Waiting(refuse, () => this.#all.delete(waiting))
    this.#all.add(waiting)
    if (this.#isEnding) waiting.end()
    return waiting
  }

  /** The front ends: nobody waits any longer. Idempotent. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    for (const waiting of [...this.#all]) waiting.end()
  }
}

class Waiting implements Wait {
  readonly #refuse: () => void
  readonly #forget: () => void
  #answer: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(refuse: () => void, forget: () => void) {
    this.#refuse = refuse
    this.#forget = forget
  }

  stored(answer: () => void): void {
    this.#answer = answer
    if (this.#isEnding) this.end()
  }

  over(): void {
    clearTimeout(this.#timer)
    this.#forget()
  }

  end(): void {
    this.#isEnding = true
    if (this.#answer) {
      this.over()
      this.#answer()
    } else
      this.#timer = setTimeout(() => {
        this.over()
        this.#refuse()
      }, storingMs)
  }
}
