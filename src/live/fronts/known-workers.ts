/** The workers that the brain has announced to a front in another process. */

import { closeUpstream, type OwnedUpstream, upstreamAt } from '../../front/transports/upstream.ts'
import type { Address } from '../../wire/front-messages.ts'

export class KnownWorkers {
  readonly #upstreamAt: typeof upstreamAt
  readonly #known = new Map<string, OwnedUpstream & { token: string }>()
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
    const known = this.#known.get(id)
    const isSame = known?.address.host === address.host && known.address.port === address.port
    if (isSame && known.token === this.token) return
    this.remove(id)
    this.#known.set(id, { ...this.#upstreamAt(id, address, this.token), token: this.token })
  }

  /** Breaks off what is in progress. */
  remove(id: string): void {
    const known = this.#known.get(id)
    if (!known) return
    this.#known.delete(id)
    closeUpstream(known)
  }

  replace(workers: readonly { id: string; address: Address }[]): void {
    const ids = new Set(workers.map(({ id }) => id))
    for (const id of this.#known.keys()) if (!ids.has(id)) this.remove(id)
    for (const { id, address } of workers) this.add(id, address)
  }
}
