/** Clients that wait for their answers, and never try again. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Up } from '../../test/support/hostile/up.ts'

const pauseMs = 20
const patienceMs = 120_000

export class SyncClients {
  readonly counts = { sent: 0, right: 0, wrong: 0, errors: 0 }
  readonly troubles: string[] = []
  readonly #up: Up
  readonly #loops: Promise<void>[]
  #open = true

  constructor(up: Up, clients: number) {
    this.#up = up
    this.#loops = Array.from({ length: clients }, (_, client) => this.#run(client))
  }

  async stop(): Promise<void> {
    this.#open = false
    await Promise.all(this.#loops)
  }

  async #run(client: number): Promise<void> {
    for (let n = 0; this.#open && !this.#up.isDead; n++) {
      const number = client * 1e6 + n
      const [path, right] = n % 3 === 0 ? ['/spin?ms=40', '40'] : [`/double?n=${number}`, `${number * 2}`]
      this.counts.sent++
      try {
        const answer = await fetch(this.#up.url + path, {
          headers: { connection: 'close' },
          signal: AbortSignal.timeout(patienceMs),
        })
        const text = await answer.text()
        if (answer.status !== 200) this.#trouble(path, `${answer.status} ${text.slice(0, 200)}`)
        else if (text === right) this.counts.right++
        else {
          this.counts.wrong++
          this.troubles.push(`wrong: ${path}: ${text.slice(0, 200)}`)
        }
      } catch (error) {
        this.#trouble(path, String((error as Error).cause ?? error))
      }
      await delay(pauseMs)
    }
  }

  #trouble(path: string, what: string): void {
    this.counts.errors++
    this.troubles.push(`${new Date().toISOString()} ${path}: ${what}`)
  }
}
