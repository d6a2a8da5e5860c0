/** The predicted work of the latest arrivals, which decides which jobs count as expensive. */

/** How many arrivals are remembered. */
const remembered = 256

export class RecentWork {
  readonly #works: number[] = []
  #next = 0
  /** Shares of jobs whose work equals the bound, carried over to the next. */
  #carried = 0

  note(work: number): void {
    this.#works[this.#next] = work
    this.#next = (this.#next + 1) % remembered
  }

  /** True: the job is none of the cheapest ones that make up this share. Of equal jobs, as many are as the share demands. */
  isAbove(work: number, share: number): boolean {
    let [less, same] = [0, 0]
    for (const each of this.#works) {
      if (each < work) less++
      else if (each === work) same++
    }
    const [below, equal] = [less / this.#works.length, same / this.#works.length]
    if (below >= share) return true
    if (below + equal <= share) return false
    this.#carried += (below + equal - share) / equal
    if (this.#carried < 1) return false
    this.#carried--
    return true
  }
}
