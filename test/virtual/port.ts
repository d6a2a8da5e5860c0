/** The public port of a virtual cluster: a queue of connections for each seat, which outlives the fronts that accept them. */

import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'

/** The bound socket of a seat, as it is sent to fronts. */
export interface SeatHandle {
  seat: number
}

interface Listener {
  process: VirtualProcess
  server: Server
  closed: boolean
}

interface Waiting {
  client: VirtualProcess
  connected(socket: Duplex, front: VirtualProcess): void
}

/** What Node counts when it accepts connections itself. */
interface CountingServer {
  _handle: { close(): void } | null
  _connections: number
  _emitCloseIfDrained(): void
}

export class VirtualPort {
  readonly #time: VirtualTime
  readonly #network: VirtualNetwork
  readonly #seats: { listeners: Listener[]; waiting: Waiting[] }[]
  readonly #servers: Server[] = []
  /** Called when a front stops to listen, and no other one listens at its seat. */
  onGap: (process: VirtualProcess) => void = () => {}

  constructor(time: VirtualTime, network: VirtualNetwork, seats: number) {
    this.#time = time
    this.#network = network
    this.#seats = Array.from({ length: seats }, () => ({ listeners: [], waiting: [] }))
  }

  /** Waits until a front accepts the connection. */
  connect(seat: number, waiting: Waiting): void {
    const { listeners } = this.#seats[seat]!
    this.#seats[seat]!.waiting.push(waiting)
    for (const listener of listeners) this.#offer(seat, listener)
  }

  listen({ seat }: SeatHandle, process: VirtualProcess, server: Server): void {
    const listener = { process, server, closed: false }
    const { listeners, waiting } = this.#seats[seat]!
    const counting = server as unknown as CountingServer
    counting._handle = {
      close: () => {
        listener.closed = true
        listeners.splice(listeners.indexOf(listener), 1)
        if (!listeners.some(({ process }) => process.alive)) this.onGap(process)
      },
    }
    listeners.push(listener)
    this.#servers.push(server)
    server.emit('listening')
    for (const _ of waiting) this.#offer(seat, listener)
  }

  /** Stops the timers of servers whose processes were killed. */
  close(): void {
    for (const server of this.#servers) server.close()
  }

  #offer(seat: number, listener: Listener): void {
    this.#time.schedule(this.#time.now + this.#network.delayMs(), 'input', listener.process, () => {
      const next = listener.closed ? undefined : this.#seats[seat]!.waiting.shift()
      if (next) this.#accept(listener, next)
    })
  }

  #accept({ process, server }: Listener, { client, connected }: Waiting): void {
    const [near, far] = this.#network.pair(client, process)
    const counting = server as unknown as CountingServer
    counting._connections++
    far.once('close', () => {
      counting._connections--
      counting._emitCloseIfDrained()
    })
    server.emit('connection', far)
    this.#time.schedule(this.#time.now + this.#network.delayMs(), 'input', client, () =>
      connected(near, process),
    )
  }
}
