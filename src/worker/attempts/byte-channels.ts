/** Bodies of long answers that wait for a connection of the front, which names their ticket. */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { channelProtocol } from '../../wire/messages.ts'
import type { LongBody } from '../program/long-body.ts'

export class ByteChannels {
  readonly #offered = new Map<string, LongBody>()

  /** Returns the ticket. */
  offer(body: LongBody): string {
    const ticket = randomUUID()
    this.#offered.set(ticket, body)
    return ticket
  }

  /** Idempotent. */
  withdraw(ticket: string): void {
    this.#offered.delete(ticket)
  }

  /** Sends the body on this connection. False: there is none with this ticket. */
  open(ticket: unknown, socket: Duplex): boolean {
    const body = this.#offered.get(String(ticket))
    if (!body) return false
    this.#offered.delete(String(ticket))
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${channelProtocol}\r\n\r\n`,
    )
    // The front sends nothing, but may close its side.
    socket.on('end', () => socket.destroy()).resume()
    body.pour(socket)
    return true
  }
}
