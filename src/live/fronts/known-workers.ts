/** The workers that the brain has announced to a front in another process. */

import { closeUpstream, type OwnedUpstream, upstreamAt } from '../../front/transports/upstream.ts'
import type { Address } from '../../wire/front-messages.ts'

/** Time allowed for the workers of an earlier brain to join the next one. */
const rejoinMs = 30_000

export class KnownWorkers {
  readonly #upstreamAt: typeof upstreamAt
  readonly #known = new Map<string, OwnedUpstream & { token: string }>()
  /** Workers that the last brain knew, and that have not joined this one. */
  #unconfirmed = new Set<string>()
  #limit: NodeJS.Timeout | undefined
  /** Authorizes attempts at workers. Set when the brain tells it. */
  token = ''

  constructor(at: typeof upstreamAt = upstreamAt) {
    this.#upstreamAt = at
  }

  get(id: string): OwnedUpstream | undefined {
    return this.#known.get(id)
  }

  /** Undefined: it is unknown. */
  reach(id: string): { address: Address; token: string } | undefined {
    const known = this.#known.get(id)
    return known && { address: known.address, token: known.token }
  }

  add(id: string, address: Address): void {
    this.#unconfirmed.delete(id)
    const known = this.#known.get(id)
    const isSame = known?.address.host === address.host && known.address.port === address.port
    if (isSame && known.token === this.token) return
    this.remove(id)
    this.#known.set(id, { ...this.#upstreamAt(id, address, this.token), token: this.token })
  }

  /** Breaks off what is in progress. */
  remove(id: string): void {
    const known = this.#known.get(id)
    this.#unconfirmed.delete(id)
    if (!known) return
    this.#known.delete(id)
    closeUpstream(known)
  }

  /** A new brain knows these, and others may join it soon: what is in progress at those goes on for a while. */
  replace(workers: readonly { id: string; address: Address }[]): void {
    const ids = new Set(workers.map(({ id }) => id))
    clearTimeout(this.#limit)
    this.#unconfirmed = new Set([...this.#known.keys()].filter((id) => !ids.has(id)))
    this.#limit = setTimeout(() => this.#removeUnconfirmed(), rejoinMs)
    this.#limit.unref?.()
    for (const { id, address } of workers) this.add(id, address)
  }

  close(): void {
    clearTimeout(this.#limit)
    for (const id of [...this.#known.keys()]) this.remove(id)
  }

  #removeUnconfirmed(): void {
    for (const id of [...this.#unconfirmed]) this.remove(id)
  }
}
