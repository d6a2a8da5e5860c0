/** A TCP proxy on loopback that cuts connections in the middle of what one side sends. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export type Direction = 'up' | 'down'

export interface Cut {
  /** `up`: what the connecting side sends. */
  direction: Direction
  /** `reset`: both sides lose the connection. `end`: this direction ends early, the other one goes on. */
  how: 'reset' | 'end'
  /** Part of the chunk that is still forwarded, from 0 to 1. */
  part: number
}

export class CuttingProxy {
  readonly cuts = { up: 0, down: 0 }
  readonly #server: Server
  readonly #target: () => number
  readonly #sockets = new Set<Socket>()
  readonly #waiting: Cut[] = []
  readonly #onCut: () => void

  private constructor(target: () => number, onCut: () => void) {
    this.#target = target
    this.#onCut = onCut
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket))
  }

  /** `target`: the port on loopback to which it connects. */
  static async open(target: () => number, onCut: () => void): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, onCut)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The next chunk in this direction, of any connection, is cut. */
  cut(cut: Cut): void {
    this.#waiting.push(cut)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target(), host: '127.0.0.1', allowHalfOpen: true })
    this.#forward(client, server, 'up')
    this.#forward(server, client, 'down')
  }

  #forward(from: Socket, to: Socket, direction: Direction): void {
    this.#sockets.add(from)
    from.on('data', (chunk: Buffer) => {
      const index = this.#waiting.findIndex((cut) => cut.direction === direction)
      const [cut] = index < 0 ? [] : this.#waiting.splice(index, 1)
      if (cut) return this.#carryOut(cut, from, to, chunk)
      if (to.writableEnded || to.destroyed || to.write(chunk)) return
      from.pause()
      to.once('drain', () => from.resume())
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#sockets.delete(from)
      // A side that is gone can take nothing more.
      if (!from.readableEnded) to.destroy()
    })
  }

  #carryOut({ direction, how, part }: Cut, from: Socket, to: Socket, chunk: Buffer): void {
    this.cuts[direction]++
    this.#onCut()
    const kept = chunk.subarray(0, Math.floor(chunk.length * part))
    if (how === 'end') {
      to.end(kept)
      from.removeAllListeners('data').resume()
      return
    }
    to.write(kept, () => to.resetAndDestroy())
    from.resetAndDestroy()
  }
}
