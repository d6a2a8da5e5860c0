/** Requests at a steady rate, each of which must be answered correctly. */

import { setTimeout as delay } from 'node:timers/promises'

const napMs = 400
const answerMs = 120_000

export class Load {
  requests = 0
  lost = 0
  wrong = 0
  /** Pause between two requests; 0: none are sent. */
  everyMs = 0
  /** The last few answers that were wrong. */
  readonly troubles: string[] = []
  url: string
  readonly #open = new Set<Promise<void>>()
  #isOver = false
  readonly #driving: Promise<void>

  constructor(url: string) {
    this.url = url
    this.#driving = this.#drive()
  }

  /** Resolves when all requests have been answered. */
  async settle(): Promise<void> {
    this.everyMs = 0
    await Promise.all(this.#open)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#driving
    await Promise.all(this.#open)
  }

  async #drive(): Promise<void> {
    while (!this.#isOver) {
      if (this.everyMs > 0) {
        const one = this.#send().finally(() => this.#open.delete(one))
        this.#open.add(one)
      }
      await delay(this.everyMs || 50)
    }
  }

  async #send(): Promise<void> {
    this.requests++
    try {
      const signal = AbortSignal.timeout(answerMs)
      const answer = await fetch(`${this.url}/nap?ms=${napMs}`, { signal })
      const text = await answer.text()
      if (answer.status === 200 && text === `${napMs}`) return
      this.wrong++
      this.troubles.push(`${answer.status}: ${text.slice(0, 200)}`)
    } catch (error) {
      this.lost++
      this.troubles.push(String((error as Error).cause ?? error))
    }
  }
}
