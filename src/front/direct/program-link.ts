/** A front's connections to one program: idle ones are reused, the last used first. */

import type { ProgramAddress } from '../../wire/programs.ts'
import { type ProgramCall, ProgramConnection } from './program-connection.ts'

/** Idle connections are closed after this time, before most servers would close them. */
const idleMs = 4_000

export class ProgramLink {
  readonly #address: ProgramAddress
  readonly #idle: ProgramConnection[] = []
  readonly #all = new Set<ProgramConnection>()
  /** Requests in progress. */
  pending = 0
  #sharedMs = 0
  #countedAt = performance.now()

  constructor(address: ProgramAddress) {
    this.#address = address
  }

  /** Returns the connection, on which the call can be cancelled. */
  send(text: string, call: ProgramCall): ProgramConnection {
    const connection = this.#idle.pop() ?? this.#open()
    this.sharedMs()
    this.pending++
    connection.send(text, call)
    return connection
  }

  /** Closes connections that were idle for a while. */
  sweep(now: number): void {
    let count = 0
    while (count < this.#idle.length && this.#idle[count]!.idleSince <= now - idleMs) count++
    for (const connection of this.#idle.splice(0, count)) connection.close()
  }

  /** Requests in progress are finished. */
  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  /** Breaks off what is in progress. */
  close(): void {
    for (const connection of this.#all) connection.close()
  }

  /** The time that a request in progress has had so far, if all of them share the program's time equally. */
  sharedMs(): number {
    const now = performance.now()
    if (this.pending > 0) this.#sharedMs += (now - this.#countedAt) / this.pending
    this.#countedAt = now
    return this.#sharedMs
  }

  #open(): ProgramConnection {
    const connection = new ProgramConnection(this.#address, {
      idle: () => {
        this.#ended()
        connection.isBusy = false
        connection.idleSince = this.#countedAt
        this.#idle.push(connection)
      },
      closed: () => {
        this.#all.delete(connection)
        if (connection.isBusy) return this.#ended()
        const at = this.#idle.indexOf(connection)
        if (at >= 0) this.#idle.splice(at, 1)
      },
    })
    this.#all.add(connection)
    return connection
  }

  #ended(): void {
    this.sharedMs()
    this.pending--
  }
}
