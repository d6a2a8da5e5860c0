/** Clients that hand jobs in and fetch their results later. What breaks off is repeated: jobs have idempotency keys. */

import { setTimeout as delay } from 'node:timers/promises'
import { type Answered, ask, type Service } from './service.ts'

/** Jobs of all clients that are handed in and not fetched yet. */
const most = 60
const pauseMs = 50
const patienceMs = 10_000

/** Texts are answered as they are. */
const right = ({ name }: Pick<Handed, 'name'>) => `${name} is done`

interface Handed {
  /** The parameter that identifies its runs. */
  name: string
  id: string
  answeredAt?: number
}

export class KeptClients {
  readonly counts = { accepted: 0, completed: 0, wrong: 0, refused: 0, repeats: 0 }
  readonly troubles: string[] = []
  /** Why jobs were not accepted at once, and how often. */
  readonly refusals: Record<string, number> = {}
  readonly #service: Service
  /** Where runs are noted. */
  readonly #file: string
  readonly #open: Handed[] = []
  readonly #done: Handed[] = []
  readonly #loops: Promise<void>[]
  #hands = true

  constructor(
    service: Service,
    { clients, file, name = 'c' }: { clients: number; file: string; name?: string },
  ) {
    this.#service = service
    this.#file = file
    this.#loops = Array.from({ length: clients }, (_, client) => this.#handIn(`${name}${client}`))
    this.#loops.push(this.#fetch())
  }

  /** Hands nothing more in; resolves when all results are there, or after this time. */
  async stop(limitMs: number): Promise<void> {
    this.#hands = false
    const ends = performance.now() + limitMs
    while (this.#open.length > 0 && performance.now() < ends && !this.#service.isOver()) await delay(200)
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

  async #handIn(client: string): Promise<void> {
    for (let n = 0; this.#hands && !this.#service.isOver(); n++) {
      await delay(pauseMs)
      if (this.#open.length < most) await this.#handInOne(`${client}-${n}`, 20 + ((n * 37) % 200))
    }
  }

  /** Repeats itself until the job is accepted, or no more jobs are handed in. */
  async #handInOne(name: string, ms: number): Promise<void> {
    const init = { method: 'POST', headers: { prefer: 'respond-async', 'idempotency-key': name } }
    const query = `id=${name}&ms=${ms}&file=${encodeURIComponent(this.#file)}`
    for (let n = 0; this.#hands && !this.#service.isOver(); n++) {
      if (n > 0) this.counts.repeats++
      const urls = this.#service.urls()
      const answer = urls.length > 0 && (await this.#ask(`${urls[n % urls.length]!}/logged?${query}`, init))
      if (answer && answer.status === 202) {
        this.counts.accepted++
        this.#open.push({ name, id: (JSON.parse(answer.text) as { id: string }).id })
        return
      }
      if (answer && answer.status === 200 && answer.text === right({ name })) {
        // An earlier try was accepted, and the job has ended meanwhile.
        this.counts.accepted++
        this.counts.completed++
        this.#done.push({ name, id: 'unknown', answeredAt: Date.now() })
        return
      }
      if (answer && answer.status !== 503) {
        this.counts.wrong++
        this.troubles.push(`wrong: ${name} was answered with ${answer.status} ${answer.text.slice(0, 200)}`)
        return
      }
      this.#refusedFor(answer ? codeOf(answer.text) : 'no answer')
      if (answer) this.counts.refused++
      await delay(pauseMs * 4)
    }
  }

  #refusedFor(code: string): void {
    this.refusals[code] = (this.refusals[code] ?? 0) + 1
  }

  async #fetch(): Promise<void> {
    while ((this.#hands || this.#open.length > 0) && !this.#service.isOver()) {
      for (const job of [...this.#open]) await this.#fetchOne(job)
      await delay(pauseMs)
    }
  }

  async #fetchOne(job: Handed): Promise<void> {
    for (const url of this.#service.urls()) {
      const answer = await this.#ask(`${url}/-/jobs/${job.id}/result`, {})
      if (answer === undefined || [202, 503].includes(answer.status)) continue
      // After its time to complete the job counts as lost.
      if (!this.#open.includes(job)) return
      job.answeredAt = Date.now()
      this.#open.splice(this.#open.indexOf(job), 1)
      this.#done.push(job)
      this.counts.completed++
      if (answer.status === 200 && answer.text === right(job)) return
      this.counts.wrong++
      this.troubles.push(`wrong: job ${job.id} (${job.name}): ${answer.status} ${answer.text.slice(0, 200)}`)
      return
    }
  }

  /** Undefined: there was no complete answer, or the request was cut off on its way. */
  async #ask(url: string, init: RequestInit): Promise<Answered | undefined> {
    const answer = await ask(url, init, patienceMs).catch(() => undefined)
    return answer?.status === 400 && answer.text.includes('Invalid EOF state') ? undefined : answer
  }
}

/** The code of a problem. */
function codeOf(text: string): string {
  return /"urn:plimsoll:([^"]+)"/.exec(text)?.[1] ?? 'other'
}
