/** The jobs without an answer, in memory: which of them wait here, and in which order. */

import type { StoredJob } from '../store/store.ts'
import type { QuotedTimes } from './eta.ts'
import { Quota, type QuotaLimits, type Usage } from './quota.ts'
import type { KeeperProblem } from './responses.ts'

export interface OpenJob {
  readonly id: string
  readonly isRepeatable: boolean
  /** How long it is expected to need a core, in seconds. */
  readonly expectedS: number
  /** Of its client, which its request is a part of. */
  readonly usage: Usage
  readonly bytes: number
  /** How often it was sent to a front. */
  tries: number
  /** Set while it is sent. */
  abort?: AbortController
  /** The id by which the cluster knows it now. */
  job?: string
  /** Why the cluster refused it the last time. */
  waitsFor?: string
}

type Added = Pick<StoredJob, 'id' | 'client' | 'isRepeatable' | 'quote'>

/** Each takes a few hundred bytes: what only some jobs have is kept apart from them. */
export class OpenJobs {
  readonly #all = new Map<string, OpenJob>()
  /** The ends for which somebody waits. */
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()
  readonly #quota: Quota
  /** In the order of their arrival; some may have ended. */
  #waiting: OpenJob[] = []
  #first = 0
  #waitingS = 0

  constructor(limits: QuotaLimits, cores: () => number) {
    const jobMs = () => (this.waitingS * 1000) / Math.max(1, this.#all.size * cores())
    this.#quota = new Quota(limits, jobMs)
  }

  /** Why one more job of this client has no room; undefined: it has. `bytes`: of its request. */
  refusal(client: string, bytes: number): KeeperProblem | undefined {
    return this.#quota.refusal(client, bytes)
  }

  /** How long the jobs that wait here are expected to need a core, in seconds. */
  get waitingS(): number {
    return Math.max(0, this.#waitingS)
  }

  add({ id, client, isRepeatable, quote }: Added, bytes: number): OpenJob {
    const { seconds } = (quote ?? {}) as Partial<QuotedTimes>
    const expectedS = seconds?.expected ?? 0
    const job: OpenJob = {
      id,
      isRepeatable,
      expectedS,
      usage: this.#quota.take(client, bytes),
      bytes,
      tries: 0,
    }
    this.#all.set(id, job)
    return job
  }

  /** Resolves when the job has ended; at once if it is not open. */
  ended(id: string): Promise<void> {
    if (!this.#all.has(id)) return Promise.resolve()
    const end = this.#ends.get(id) ?? Promise.withResolvers<void>()
    this.#ends.set(id, end)
    return end.promise
  }

  /** Nobody waits for an end any longer. */
  stopWaiting(): void {
    for (const end of this.#ends.values()) end.resolve()
  }

  get(id: string): OpenJob | undefined {
    return this.#all.get(id)
  }

  all(): Iterable<OpenJob> {
    return this.#all.values()
  }

  wait(job: OpenJob): void {
    this.#waiting.push(job)
    this.#waitingS += job.expectedS
  }

  next(): OpenJob | undefined {
    for (;;) {
      const job = this.#waiting[this.#first++]
      if (!job) {
        this.#waiting = []
        this.#first = 0
        // Sums of fractions are not exact.
        this.#waitingS = 0
        return undefined
      }
      this.#waitingS -= job.expectedS
      if (this.#first > 1_000 && this.#first * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#first)
        this.#first = 0
      }
      if (this.#all.get(job.id) === job) return job
    }
  }

  /** Idempotent. */
  end(job: OpenJob): void {
    const { id, usage, bytes } = job
    if (this.#all.get(id) !== job) return
    this.#all.delete(id)
    this.#quota.giveBack(usage, bytes)
    this.#ends.get(id)?.resolve()
    this.#ends.delete(id)
  }
}
