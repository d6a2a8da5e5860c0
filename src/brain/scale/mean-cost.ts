/** What a job costs on average. Heavy tails make every short while a bad witness, so it is learned over a long one. */

export interface SavedCost {
  jobs: number
  seconds: number
  /** Of jobs that are over: how many, how long they took, and were expected to. */
  over: number
  ended: number
  expected: number
}

/** Estimates that are further off than this say nothing: what takes time there is not work. */
const mostFactor = 10

export class MeanCost {
  readonly #memoryMs: number
  #state: SavedCost = { jobs: 0, seconds: 0, over: 0, ended: 0, expected: 0 }

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  arrived(seconds: number): void {
    this.#state.jobs++
    this.#state.seconds += seconds
  }

  /** What estimates are wrong by is learned beside them. */
  finished(seconds: number, expected: number): void {
    this.#state.over++
    this.#state.ended += seconds
    this.#state.expected += expected
  }

  /** So much time has passed: what was seen before counts less. */
  age(ms: number): void {
    const keep = Math.exp(-ms / this.#memoryMs)
    for (const key of ['jobs', 'seconds', 'over', 'ended', 'expected'] as const) this.#state[key] *= keep
  }

  /** Seconds of a core; 0: nothing is known. */
  get seconds(): number {
    const { jobs, seconds } = this.#state
    return jobs === 0 ? 0 : this.really(seconds / jobs, 1)
  }

  /** How long jobs that are expected to take so long together will: estimates are off, and workers faster or slower than they say. */
  really(seconds: number, jobs: number): number {
    const { over, ended, expected } = this.#state
    if (over === 0) return seconds
    const factor = expected > 0 ? Math.min(mostFactor, ended / expected) : mostFactor
    return seconds * factor + (jobs * Math.max(0, ended - factor * expected)) / over
  }

  save(): SavedCost {
    return { ...this.#state }
  }

  load(saved: SavedCost): void {
    this.#state = { ...saved }
  }
}
