/**
 * Leads whenever no other cluster does. A term lasts from taking the lease of the store to its loss or to the end of this
 * process; within it a keeper runs the jobs that are open.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Keeper } from '../../keeper/keeper.ts'
import { Outage } from '../../lib/outage.ts'
import type { JobStore, Lease } from '../../store/store.ts'

export interface LeaseTimes {
  /** After this time without a renewal another cluster may lead. */
  ttlMs: number
  /** How often the lease is renewed. */
  renewMs: number
  /** How often it is asked for while another cluster has it, or the store cannot be used. */
  askMs: number
  /** How long the lease is left to others at first. */
  yieldMs: number
}

/** Rights and duties of a term. */
export interface TermParts {
  epoch: number
  /** False: the lease could not be renewed in time. */
  leads(): boolean
  /** Another cluster leads now. */
  fenced(): void
}

export interface TermsParts extends LeaseTimes {
  store: JobStore
  /** Who asks for the lease. A holder that asks again gets it at once: no other process may have the same name. */
  holder: string
  log(line: string): void
  /** A term begins, or another cluster leads. */
  led?(term: number | undefined): void
  /** Starts what runs during a term, and adds how to end it. Rejects if the store fails. */
  begin(term: TermParts, ending: AsyncDisposableStack): Promise<Keeper>
}

interface Taken {
  lease: Lease
  askedAt: number
}

export class Terms {
  readonly #parts: TermsParts
  readonly #stop = new AbortController()
  readonly #started = Promise.withResolvers<void>()
  #hasStarted = false
  readonly #asking: Outage
  #running: Promise<void> | undefined
  /** Undefined: it does not lead. */
  keeper: Keeper | undefined

  constructor(parts: TermsParts) {
    this.#parts = parts
    const words = {
      failed: (why: string) => `keeper: the store cannot be used, and is tried again: ${why}`,
      works: () => 'keeper: the store can be used again',
    }
    this.#asking = new Outage(words, parts.log)
  }

  /** Resolves when the first term has begun, or another cluster leads. Rejects if the store fails at the first try. */
  async start(): Promise<void> {
    this.#running = this.#run().catch((error) => this.#started.reject(error))
    await this.#started.promise
  }

  /** Ends the term, and lets another cluster lead at once. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { log, yieldMs } = this.#parts
    if (yieldMs > 0) {
      this.#hasBegun()
      log(`keeper: a standby: asks for the lease of the store in ${yieldMs / 1000} s`)
      await this.#wait(yieldMs)
    }
    while (!this.#stop.signal.aborted) {
      try {
        const taken = await this.#lease()
        if (taken) await this.#lead(taken)
        this.#asking.works()
      } catch (error) {
        if (!this.#hasStarted) throw error
        this.#asking.failed((error as Error).message)
        await this.#wait(this.#parts.askMs)
      }
    }
    this.#hasBegun()
  }

  /** Undefined: the process ends. */
  async #lease(): Promise<Taken | undefined> {
    const { store, holder, log, ttlMs, askMs } = this.#parts
    for (let waits = 0; !this.#stop.signal.aborted; waits++) {
      // It may have begun long before this process learns of it.
      const askedAt = performance.now()
      const lease = await store.lead(holder, ttlMs)
      if (lease) return { lease, askedAt }
      this.#asking.works()
      this.#hasBegun()
      this.#parts.led?.(undefined)
      if (waits === 0)
        log('keeper: another cluster keeps the requests of this store; this one waits for its lease')
      await this.#wait(askMs)
    }
    return undefined
  }

  /** Resolves when the lease is lost or the process ends. */
  async #lead({ lease, askedAt }: Taken): Promise<void> {
    const { log, ttlMs, begin } = this.#parts
    await using ending = new AsyncDisposableStack()
    const over = new AbortController()
    let isLost = false
    const fenced = () => {
      if (!isLost) log('keeper: another cluster has taken over the store; this one stops its jobs and waits')
      isLost = true
      this.#parts.led?.(undefined)
      over.abort()
    }
    this.#parts.led?.(lease.epoch)
    ending.defer(() => (isLost ? undefined : lease.release().catch(() => {})))
    let renewedAt = askedAt
    const leads = () => performance.now() - renewedAt < ttlMs
    const renewed = (startedAt: number) => {
      renewedAt = startedAt
    }
    const renewing = this.#renew(lease, { over: over.signal, leads, renewed, fenced })
    ending.defer(async () => {
      over.abort()
      await renewing
    })
    this.keeper = await begin({ epoch: lease.epoch, leads, fenced }, ending)
    ending.defer(() => {
      this.keeper = undefined
    })
    this.#hasBegun()
    await aborted(AbortSignal.any([over.signal, this.#stop.signal]))
  }

  async #renew(
    lease: Lease,
    {
      over,
      leads,
      renewed,
      fenced,
    }: { over: AbortSignal; leads(): boolean; renewed(startedAt: number): void; fenced(): void },
  ): Promise<void> {
    const { log, ttlMs, renewMs } = this.#parts
    const words = {
      failed: (why: string) =>
        `keeper: sends no jobs, because its lease could not be renewed for ${ttlMs / 1000} s: ${why}`,
      works: () => 'keeper: the lease is renewed; jobs are sent again',
    }
    const late = new Outage(words, log)
    for (;;) {
      await delay(renewMs, undefined, { signal: over }).catch(() => {})
      if (over.aborted) return
      const startedAt = performance.now()
      try {
        if (!(await lease.renew(ttlMs))) return fenced()
        renewed(startedAt)
        late.works()
      } catch (error) {
        if (!leads()) late.failed((error as Error).message)
      }
    }
  }

  #hasBegun(): void {
    this.#hasStarted = true
    this.#started.resolve()
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
