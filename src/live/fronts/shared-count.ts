/** Tells the brain how many requests of a front joined the job of another. */

import type { RepeatedAnswers } from '../../front/cache/repeated-answers.ts'

export class SharedCount {
  readonly #send: (count: number) => void
  /** As the brain knows it. */
  #told = 0

  constructor(send: (count: number) => void) {
    this.#send = send
  }

  /** Reports changes from now on. */
  report(answers: RepeatedAnswers, everyMs: number): NodeJS.Timeout {
    return setInterval(() => {
      const { shared: count } = answers.counters(undefined)
      if (count !== this.#told) this.#send(count)
      this.#told = count
    }, everyMs)
  }

  /** Another brain knows of none. */
  startOver(): void {
    this.#told = 0
  }
}
