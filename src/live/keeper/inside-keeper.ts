/** The keeper of a cluster without a supervisor: in the process of the brain and the front. */

import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FrontServer } from '../../front/connection-steps.ts'
import { guessedAwayMs, type KeeperLink, keeperAway } from '../../front/durable/keeper-link.ts'
import { WaitingClients } from '../../front/durable/waiting-clients.ts'
import { RecoveryTime } from '../../lib/retry-times.ts'
import type { KeeperAddress, KeeperPlace } from '../../wire/kept.ts'
import { newToken } from '../../wire/token.ts'
import type { KeeperSource } from './keeper-source.ts'
import type { KeeperSettings } from './messages.ts'
import { type RunningKeeper, startKeeper } from './run-keeper.ts'

export interface InsideKeeperParts {
  settings(): KeeperSettings
  /** The cluster leads others with the same database from now on, or no more. */
  led(term: number | undefined): void
  log(line: string): void
}

export class InsideKeeper implements KeeperLink, KeeperSource {
  readonly waiting = new WaitingClients()
  readonly #parts: InsideKeeperParts
  readonly #token = newToken()
  readonly #away = new RecoveryTime(guessedAwayMs)
  readonly #stop = new AbortController()
  #front: Server | undefined
  #running: Promise<RunningKeeper> | undefined
  #place: KeeperPlace | undefined
  #changed = () => {}

  constructor(parts: InsideKeeperParts) {
    this.#parts = parts
  }

  /** Rejects with a 503 if the store cannot be opened. */
  async reach(): Promise<KeeperAddress> {
    try {
      const { port, joinPort } = await this.#start()
      this.#away.ends()
      if (!this.#place) {
        this.#place = { port, token: this.#token, ...(joinPort !== undefined && { joinPort }) }
        this.#changed()
      }
      return { port, token: this.#token }
    } catch (error) {
      this.#parts.log(`keeper: ${(error as Error).message}`)
      this.#running = undefined
      this.#away.begins()
      throw keeperAway(this.#away.retryAfterMs())
    }
  }

  place(): KeeperPlace | undefined {
    return this.#place
  }

  want(): void {
    this.reach().catch(() => {})
  }

  onChange(then: () => void): void {
    this.#changed = then
  }

  /** The front accepts requests: jobs of an earlier cluster go on. */
  async serve(front: FrontServer): Promise<void> {
    const server = front.forKeeper?.(this.#token)
    if (!server) return
    this.#front = server
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { store } = this.#parts.settings()
    if (store.includes('://') || existsSync(store)) await this.reach().catch(() => {})
  }

  async close(): Promise<void> {
    this.waiting.end()
    this.#stop.abort()
    const keeper = await this.#running?.catch(() => undefined)
    await keeper?.close()
    this.#front?.close()
    this.#front?.closeAllConnections()
  }

  #start(): Promise<RunningKeeper> {
    const { settings, led, log } = this.#parts
    this.#running ??= startKeeper(
      {
        ...{ settings, token: this.#token, led, log },
        fronts: () => (this.#front?.listening ? [(this.#front.address() as AddressInfo).port] : []),
      },
      this.#stop.signal,
    )
    return this.#running
  }
}
