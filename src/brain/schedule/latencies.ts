/** Recent latencies of a worker, by the requests in flight that a job found there. */

/** The number of answers remembered, and how long each counts. */
const [kept, countsMs] = [32, 1000]

export interface Answered {
  at: number
  /** Requests in flight before the job arrived. */
  found: number
  tookMs: number
}

export class Latencies {
  /** A ring buffer. */
  readonly #answers: Answered[] = []
  #next = 0

  add(answer: Answered): void {
    this.#answers[this.#next] = answer
    this.#next = (this.#next + 1) % kept
  }

  /**
   * The median latency of jobs that found as many requests in flight as there are now, or else the next fewer. 0 if
   * there is none: a worker that is new, was idle, or has less to do than any recent job found is worth a try.
   */
  at(inFlight: number, now: number): number {
    const counts = ({ at, found }: Answered) => found <= inFlight && now - at <= countsMs
    let most = -1
    for (const answer of this.#answers) if (answer.found > most && counts(answer)) most = answer.found
    const times: number[] = []
    for (const answer of this.#answers) if (answer.found === most && counts(answer)) times.push(answer.tookMs)
    return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  }
}
