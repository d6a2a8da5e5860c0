/** A front's connections to one program: idle ones are reused, the last used first. */

import { ReadBuffers } from '../../lib/read-buffers.ts'
import type { ProgramAddress } from '../../wire/programs.ts'
import { type ProgramCall, ProgramConnection } from './program-connection.ts'

/** Idle connections are closed after this time, before most servers would close them. */
const idleMs = 4_000
/**
 * A request that must not be repeated is sent only on a new connection, or on one that was used within this time: whether
 * the program has closed an idle one before or after it read the request is unknown.
 */
const freshMs = 1_000

export class ProgramLink {
  readonly #address: ProgramAddress
  readonly #now: () => number
  readonly #freed: () => void
  readonly #buffers: ReadBuffers
  readonly #idle: ProgramConnection[] = []
  readonly #all = new Set<ProgramConnection>()
  /** Requests in progress. */
  pending = 0
  /** Of these, requests whose long answer has begun. They take little of the program's time. */
  answering = 0
  #sharedMs = 0
  #countedAt: number
  #retired = false

  /** `freed` is called when a request in progress has ended. */
  constructor(
    address: ProgramAddress,
    now = () => performance.now(),
    buffers = new ReadBuffers(),
    freed: () => void = () => {},
  ) {
    this.#address = address
    this.#now = now
    this.#buffers = buffers
    this.#freed = freed
    this.#countedAt = now()
  }

  /** True: it has no connections and gets none. */
  get isOver(): boolean {
    return this.#retired && this.#all.size === 0
  }

  /** Returns the connection, on which the call can be cancelled. `body`: follows the text. */
  send(text: string, call: ProgramCall, body?: Buffer): ProgramConnection {
    this.sharedMs()
    const since = this.#countedAt - (call.mayRepeat ? idleMs : freshMs)
    const connection = this.#takeIdle(since) ?? this.#open()
    this.pending++
    connection.send(text, body, call)
    return connection
  }

  /** Closes connections that were idle for a while, and checks the others. */
  sweep(): void {
    const now = this.#now()
    let count = 0
    while (count < this.#idle.length && this.#idle[count]!.idleSince <= now - idleMs) count++
    for (const connection of this.#idle.splice(0, count)) connection.close()
    for (const connection of this.#all) connection.check(now)
  }

  /** No more requests follow: connections are closed when they are idle. */
  retire(): void {
    this.#retired = true
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  /** The time that a request in progress has had so far, if all of them share the program's time equally. */
  sharedMs(): number {
    const now = this.#now()
    const sharing = this.pending - this.answering
    if (sharing > 0) this.#sharedMs += (now - this.#countedAt) / sharing
    this.#countedAt = now
    return this.#sharedMs
  }

  /** `since`: one that became idle earlier may be about to be closed by the program. */
  #takeIdle(since: number): ProgramConnection | undefined {
    const last = this.#idle.at(-1)
    if (!last || last.idleSince <= since) return undefined
    return this.#idle.pop()
  }

  #open(): ProgramConnection {
    const connection = new ProgramConnection(this.#address, this.#buffers, {
      now: this.#now,
      answering: () => {
        this.sharedMs()
        this.answering++
      },
      idle: () => {
        this.#ended(connection)
        connection.isBusy = false
        connection.idleSince = this.#countedAt
        if (this.#retired) connection.close()
        else this.#idle.push(connection)
        this.#freed()
      },
      closed: () => {
        this.#all.delete(connection)
        if (connection.isBusy) {
          this.#ended(connection)
          return this.#freed()
        }
        const at = this.#idle.indexOf(connection)
        if (at >= 0) this.#idle.splice(at, 1)
      },
    })
    this.#all.add(connection)
    return connection
  }

  #ended({ isAnswering }: ProgramConnection): void {
    this.sharedMs()
    this.pending--
    if (isAnswering) this.answering--
  }
}
