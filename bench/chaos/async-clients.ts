/** Clients that hand jobs in and fetch their results later. An answer that breaks off is asked for again. */

import { setTimeout as delay } from 'node:timers/promises'
import type { Up } from '../../test/support/hostile/up.ts'

/** Jobs that a client has handed in and not fetched yet. */
const most = 20
const pauseMs = 50
const patienceMs = 30_000

/** Texts are answered as they are. */
const right = ({ name }: Handed) => `${name} is done`

interface Handed {
  /** The parameter that identifies its runs. */
  name: string
  id: string
  answeredAt?: number
}

export class AsyncClients {
  readonly counts = { accepted: 0, completed: 0, wrong: 0, refused: 0 }
  readonly troubles: string[] = []
  readonly #up: Up
  readonly #open: Handed[] = []
  readonly #done: Handed[] = []
  readonly #loops: Promise<void>[]
  #hands = true

  constructor(up: Up, clients: number) {
    this.#up = up
    this.#loops = Array.from({ length: clients }, (_, client) => this.#handIn(client))
    this.#loops.push(this.#fetch())
  }

  /** Hands nothing more in; resolves when all results are there, or after this time. */
  async stop(limitMs: number): Promise<void> {
    this.#hands = false
    const ends = performance.now() + limitMs
    while (this.#open.length > 0 && performance.now() < ends && !this.#up.isDead && !this.#up.isStopped)
      await delay(200)
    for (const { id, name } of this.#open.splice(0)) this.troubles.push(`lost: job ${id} (${name})`)
    await Promise.all(this.#loops)
  }

  /** Jobs of which a run began after their answer had been seen. */
  recomputed(runs: ReadonlyMap<string, number[]>): number {
    const again = this.#done.filter(({ name, answeredAt = Infinity }) =>
      runs.get(name)?.some((startedAt) => startedAt > answeredAt),
    )
    for (const { id, name } of again) this.troubles.push(`ran again after its answer: job ${id} (${name})`)
    return again.length
  }

  async #handIn(client: number): Promise<void> {
    for (let n = 0; this.#hands && !this.#up.isDead; n++) {
      await delay(pauseMs)
      if (this.#open.length >= most * 3) continue
      const name = `c${client}-${n}`
      const answer = await this.#ask(`/logged?id=${name}&ms=${20 + ((n * 37) % 200)}`, {
        method: 'POST',
        headers: { prefer: 'respond-async', 'idempotency-key': name, connection: 'close' },
      })
      if (answer?.status === 202) {
        this.counts.accepted++
        this.#open.push({ name, id: (JSON.parse(answer.text) as { id: string }).id })
      } else this.counts.refused++
    }
  }

  async #fetch(): Promise<void> {
    while ((this.#hands || this.#open.length > 0) && !this.#up.isDead && !this.#up.isStopped) {
      for (const job of [...this.#open]) {
        const answer = await this.#ask(`/-/jobs/${job.id}/result`, { headers: { connection: 'close' } })
        if (answer === undefined || [202, 503].includes(answer.status)) continue
        job.answeredAt = Date.now()
        this.#open.splice(this.#open.indexOf(job), 1)
        this.#done.push(job)
        this.counts.completed++
        if (answer.status === 200 && answer.text === right(job)) continue
        this.counts.wrong++
        this.troubles.push(
          `wrong: job ${job.id} (${job.name}): ${answer.status} ${answer.text.slice(0, 200)}`,
        )
      }
      await delay(pauseMs)
    }
  }

  async #ask(path: string, init: RequestInit): Promise<{ status: number; text: string } | undefined> {
    try {
      const answer = await fetch(this.#up.url + path, { ...init, signal: AbortSignal.timeout(patienceMs) })
      return { status: answer.status, text: await answer.text() }
    } catch {
      return undefined
    }
  }
}
