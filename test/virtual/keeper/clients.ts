/** Clients: they hand requests in, repeat them with their keys, wait, and cancel. */

import type { Keeper } from '../../../src/keeper/keeper.ts'
import type { Random } from '../../../src/lib/random.ts'
import type { JobStore } from '../../../src/store/store.ts'
import type { KeepOrder } from '../../../src/wire/kept.ts'
import type { VirtualTime } from '../time.ts'
import type { Judge } from './judge.ts'
import type { KeeperProcess } from './keeper-process.ts'
import { bodyOf, type RequestPlan } from './plan.ts'
import { receiverHost } from './receivers.ts'

export interface ClientsParts {
  time: VirtualTime
  judge: Judge
  random: Random
  keepers: readonly KeeperProcess[]
  memory: JobStore
}

/** A client tries again after this time, and gives an attempt up after the second one. */
const [againMs, patienceMs] = [700, 8_000]

export class Clients {
  readonly #parts: ClientsParts
  /** Requests that have neither been accepted nor given up. */
  #pending = 0

  constructor(parts: ClientsParts) {
    this.#parts = parts
  }

  get areDone(): boolean {
    return this.#pending === 0
  }

  plan(request: RequestPlan): void {
    const { time } = this.#parts
    for (const at of request.at) {
      this.#pending++
      time.plan(at, () => this.#handIn(request, order(request)))
    }
    if (request.conflictAt !== undefined) time.plan(request.conflictAt, () => this.#conflict(request))
    if (request.cancelAt !== undefined) time.plan(request.cancelAt, () => this.#cancel(request, 5))
  }

  #keeper(): KeeperProcess | undefined {
    const open = this.#parts.keepers.filter(({ keeper }) => keeper)
    return open[this.#parts.random.below(open.length)]
  }

  /** Runs in the process of a keeper, as a request from a front. */
  #ask(run: (keeper: Keeper, at: KeeperProcess) => Promise<void>): boolean {
    const at = this.#keeper()
    if (!at) return false
    const { time } = this.#parts
    time.schedule(time.now + 1, 'input', at.process, () => {
      // It may have closed its port.
      if (at.keeper) void run(at.keeper, at)
    })
    return true
  }

  #handIn(request: RequestPlan, keep: KeepOrder): void {
    const { time, judge } = this.#parts
    let isOver = false
    const isKeyed = request.key !== undefined
    /** The answer is lost, or is a refusal. */
    const failed = (mayRepeat: boolean) => {
      if (isOver) return
      isOver = true
      if (mayRepeat) time.plan(time.now + againMs, () => this.#handIn(request, keep))
      else this.#pending--
    }
    const isAsked = this.#ask(async (keeper, at) => {
      if (isOver) return
      try {
        const kept = await keeper.keep(keep, contentOf(request))
        if (kept) judge.acknowledged(request, kept.id, kept.isRepeat)
        else judge.conflicted(request, false)
        if (!isOver) this.#pending--
        isOver = true
        if (!kept || !request.waits) return
        await kept.ended()
        // Otherwise it is told that it has a job.
        if (!at.closed.has(keeper)) await this.#sees(kept.id)
      } catch (error) {
        judge.log(() => `client: request ${request.number} is refused: ${(error as Error).message}`)
        failed(isKeyed)
      }
    })
    if (!isAsked) failed(true)
    else time.plan(time.now + patienceMs, () => failed(isKeyed))
  }

  async #sees(id: string): Promise<void> {
    const { memory, judge } = this.#parts
    const job = await memory.job(id)
    const result = await memory.result(id)
    const body = result && Buffer.concat(await Array.fromAsync(result.body)).toString()
    judge.saw(id, result && `${result.status} ${body}`, job?.state === 'open')
  }

  #conflict(request: RequestPlan): void {
    const { judge } = this.#parts
    if (judge.idOf(request) === undefined) return
    const other = order(request)
    const keep = { ...other, idempotency: { key: request.key!, fingerprint: 'another' } }
    this.#ask(async (keeper) => {
      const kept = await keeper.keep(keep, contentOf(request)).catch(() => undefined)
      if (kept) judge.fail(`another request with the key of request ${request.number} was accepted`)
    })
  }

  #cancel(request: RequestPlan, tries: number): void {
    const { time, judge } = this.#parts
    const id = judge.idOf(request)
    if (id === undefined || tries === 0) return
    const again = () => time.plan(time.now + againMs, () => this.#cancel(request, tries - 1))
    const isAsked = this.#ask(async (keeper) => {
      try {
        const isFirst = await keeper.cancel(id, {})
        judge.log(() => `client: ${id} is told to be ${isFirst ? 'cancelled' : 'over'}`)
        judge.cancelled(id, isFirst)
      } catch {
        again()
      }
    })
    if (!isAsked) again()
  }

  /** All that is in the store, as any client may see it at the end. */
  async seeAll(): Promise<void> {
    for (const id of this.#parts.judge.ids) await this.#sees(id)
  }
}

function order(request: RequestPlan): KeepOrder {
  const { number, client, isRepeatable, key, webhook } = request
  return {
    ...{ workload: 'w', client, isRepeatable, method: 'POST', target: `/w?n=${number}`, fields: [] },
    ...{ quote: {}, waitMs: request.waits ? null : 0 },
    ...(key !== undefined && { idempotency: { key, fingerprint: `f${number}` } }),
    ...(webhook && { webhook: `https://${receiverHost}/${webhook}` }),
  }
}

function contentOf(request: RequestPlan): Uint8Array | AsyncIterable<Uint8Array> {
  const body = bodyOf(request)
  if (!request.isStreamed) return body
  return (async function* () {
    for (let at = 0; at < body.length; at += 1_000) yield body.subarray(at, at + 1_000)
  })()
}
