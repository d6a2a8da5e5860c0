/** The way to the keeper of a front that its brain tells where the keeper is. */

import { endpointOf, isSecure } from '../../wire/connect.ts'
import type { KeeperAddress, KeeperPlace } from '../../wire/kept.ts'
import type { KeeperChannel } from './front-keeper.ts'

export interface LinkedKeeperParts {
  /** The address at which the front has joined, and the token of fronts. */
  join(): URL
  token: string
  want(): void
}

export class LinkedKeeper implements KeeperChannel {
  readonly #parts: LinkedKeeperParts
  #changed: (address: KeeperAddress | undefined) => void = () => {}

  constructor(parts: LinkedKeeperParts) {
    this.#parts = parts
  }

  want(): void {
    this.#parts.want()
  }

  onAddress(then: (address: KeeperAddress | undefined) => void): void {
    this.#changed = then
  }

  /** As the brain says. */
  tell(place: KeeperPlace | undefined): void {
    this.#changed(place && this.#addressOf(place))
  }

  /** Undefined: its cluster lets no fronts of other machines join, so it cannot be reached from here. */
  #addressOf({ port, token, joinPort }: KeeperPlace): KeeperAddress | undefined {
    const join = this.#parts.join()
    if (!isSecure(join)) return { port, token }
    if (joinPort === undefined) return undefined
    return { port: joinPort, token, far: { host: endpointOf(join).host, token: this.#parts.token } }
  }
}
