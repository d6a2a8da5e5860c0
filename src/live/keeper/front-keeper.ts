/** A front's ways to and from the keeper: where the keeper is, and the server for its requests. */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FrontServer } from '../../front/connection-steps.ts'
import { guessedAwayMs, type KeeperLink, keeperAway } from '../../front/durable/keeper-link.ts'
import { WaitingClients } from '../../front/durable/waiting-clients.ts'
import { RecoveryTime } from '../../lib/retry-times.ts'
import type { KeeperAddress } from '../../wire/kept.ts'

/** The channel to the process that starts the keeper. */
export interface KeeperChannel {
  /** Asks for a keeper. */
  want(): void
  /** Calls back with the address, again when it changes; undefined: there is none. */
  onAddress(then: (address: KeeperAddress | undefined) => void): void
  /** The keeper may send requests to this port; undefined: no more. A front of another machine is sent none. */
  accept?(port: number | undefined): void
}

/** A request waits this long for a keeper that starts. */
const startMs = 10_000

export class FrontKeeper implements KeeperLink {
  readonly waiting = new WaitingClients()
  readonly #channel: KeeperChannel
  #address: KeeperAddress | undefined
  #changed = Promise.withResolvers<void>()
  #front: FrontServer | undefined
  #server: Server | undefined
  #isLeaving = false
  readonly #away = new RecoveryTime(guessedAwayMs)

  constructor(channel: KeeperChannel) {
    this.#channel = channel
    channel.onAddress((address) => {
      this.#address = address
      if (address) this.#away.ends()
      this.#changed.resolve()
      this.#changed = Promise.withResolvers()
      this.#open()
    })
  }

  /** The server for requests of the keeper, once there is one. */
  get server(): Server | undefined {
    return this.#server
  }

  /** Rejects with a 503 if no keeper starts. */
  async reach(): Promise<KeeperAddress> {
    if (!this.#address) {
      this.#away.begins()
      this.#channel.want()
    }
    const late = AbortSignal.timeout(startMs)
    while (!this.#address && !late.aborted)
      await Promise.race([this.#changed.promise, delay(startMs, undefined, { signal: late }).catch(() => {})])
    if (!this.#address) throw keeperAway(this.#away.retryAfterMs())
    return this.#address
  }

  serve(front: FrontServer): void {
    this.#front = front
    this.#open()
  }

  /** Gets no more requests; those in progress are finished. */
  leave(): void {
    this.#isLeaving = true
    this.#channel.accept?.(undefined)
  }

  #open(): void {
    const accept = this.#channel.accept
    if (!accept || !this.#address || !this.#front?.forKeeper || this.#server || this.#isLeaving) return
    const server = this.#front.forKeeper(this.#address.token)
    this.#server = server
    // It stays for the life of the front: a connection that cannot be accepted must not end the process.
    server.on('error', () => {})
    server.listen(0, '127.0.0.1', () => accept((server.address() as AddressInfo).port))
  }
}
