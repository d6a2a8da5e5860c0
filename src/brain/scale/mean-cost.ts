/** What a job costs on average. Heavy tails make every short while a bad witness, so it is learned over a long one. */

export interface SavedCost {
  jobs: number
  seconds: number
  ended: number
  expected: number
}

export class MeanCost {
  readonly #memoryMs: number
  #state: SavedCost = { jobs: 0, seconds: 0, ended: 0, expected: 0 }

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  arrived(seconds: number): void {
    this.#state.jobs++
    this.#state.seconds += seconds
  }

  /** What estimates are wrong by is learned beside them. */
  finished(seconds: number, expected: number): void {
    this.#state.ended += seconds
    this.#state.expected += expected
  }

  /** So much time has passed: what was seen before counts less. */
  age(ms: number): void {
    const keep = Math.exp(-ms / this.#memoryMs)
    for (const key of ['jobs', 'seconds', 'ended', 'expected'] as const) this.#state[key] *= keep
  }

  /** Seconds of a core; 0: nothing is known. */
  get seconds(): number {
    const { jobs, seconds, ended, expected } = this.#state
    if (jobs === 0) return 0
    return (seconds / jobs) * (expected > 0 ? ended / expected : 1)
  }

  save(): SavedCost {
    return { ...this.#state }
  }

  load(saved: SavedCost): void {
    this.#state = { ...saved }
  }
}
