/** How long a worker lately took to answer, by the requests in flight that a job found there. */

/** How many answers are remembered, and for how long they count. */
const [kept, countsMs] = [32, 1000]

export interface Answered {
  at: number
  /** Requests in flight, before the job came. */
  found: number
  tookMs: number
}

export class Latencies {
  /** The next is written over the oldest. */
  #answers: Answered[] = []
  #next = 0

  add(answer: Answered): void {
    this.#answers[this.#next] = answer
    this.#next = (this.#next + 1) % kept
  }

  /**
   * The median of those that found as many as there are now, or else the next fewer. 0 where there is none: what is new,
   * has had nothing to do for a while, or has less to do than anyone found lately, is worth a try.
   */
  at(inFlight: number, now: number): number {
    const counts = ({ at, found }: Answered) => found <= inFlight && now - at <= countsMs
    let most = -1
    for (const answer of this.#answers) if (answer.found > most && counts(answer)) most = answer.found
    const times: number[] = []
    for (const answer of this.#answers) if (answer.found === most && counts(answer)) times.push(answer.tookMs)
    return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  }

  /** From the oldest to the newest. */
  save(): Answered[] {
    return [...this.#answers.slice(this.#next), ...this.#answers.slice(0, this.#next)]
  }

  load(saved: readonly Answered[]): void {
    this.#answers = [...saved]
    this.#next = saved.length % kept
  }
}
