/** Connections between virtual processes: delays, splits, resets, and connections that fall silent without closing. */

import { Duplex } from 'node:stream'
import type { Random } from '../../src/lib/random.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'

/** Delay of a packet. */
const [leastMs, mostMs] = [0.05, 3]
/** Time limit of a connection attempt, and how often its state is checked. */
const [connectMs, watchMs] = [10_000, 50]
/** Probability that the bytes of a write arrive in two pieces. */
const splitRate = 0.3

export class VirtualNetwork {
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #open = new Set<Connection>()
  readonly #listeners = new Map<string, { process: VirtualProcess; accept(socket: Duplex): void }>()

  constructor(time: VirtualTime, random: Random) {
    this.#time = time
    this.#random = random
  }

  listen(address: string, process: VirtualProcess, accept: (socket: Duplex) => void): void {
    this.#listeners.set(address, { process, accept })
  }

  /** Rejects if nobody listens there, or the listener ends or does not accept in time. */
  connect(from: VirtualProcess, address: string): Promise<Duplex> {
    const answer = Promise.withResolvers<Duplex>()
    const fail = (code: string) =>
      this.#time.schedule(this.#time.now + this.delayMs(), 'input', from, () =>
        answer.reject(Object.assign(new Error(code), { code })),
      )
    const listener = this.#listeners.get(address)
    const isUp = () => listener?.process.alive === true
    // A process that ends resets what its kernel has accepted for it.
    const watch = (atMs: number) => {
      if (pending && !isUp()) fail('ECONNREFUSED')
      else if (pending && this.#time.now >= atMs) fail('ETIMEDOUT')
      else if (pending) return this.#time.plan(this.#time.now + watchMs, () => watch(atMs))
      pending = false
    }
    let pending = true
    watch(this.#time.now + connectMs)
    if (!pending) return answer.promise
    this.#time.schedule(this.#time.now + this.delayMs(), 'input', listener!.process, () => {
      if (!pending) return
      pending = false
      const connection = new Connection(this.#time, () => this.delayMs(), from, listener!.process)
      connection.splits = () => this.#random.next() < splitRate
      connection.onClosed = () => this.#open.delete(connection)
      this.#open.add(connection)
      listener!.accept(connection.ends[1])
      this.#time.schedule(this.#time.now + this.delayMs(), 'input', from, () =>
        answer.resolve(connection.ends[0]),
      )
    })
    return answer.promise
  }

  delayMs(): number {
    return leastMs + this.#random.next() ** 3 * (mostMs - leastMs)
  }

  /** The kernel resets the connections of a process that has ended. */
  ended(process: VirtualProcess): void {
    for (const connection of [...this.#open]) if (connection.has(process)) connection.reset()
  }

  /** Resets one open connection, or makes it fall silent: neither side receives anything, nor learns of it. */
  disturb(kind: 'reset' | 'silent'): void {
    const open = [...this.#open]
    const connection = open[this.#random.below(Math.max(1, open.length))]
    if (kind === 'reset') connection?.reset()
    else if (connection) connection.silent = true
  }
}

class Connection {
  readonly #time: VirtualTime
  readonly #delayMs: () => number
  readonly #processes: readonly [VirtualProcess, VirtualProcess]
  readonly ends: readonly [Duplex, Duplex]
  /** When the last packet to each end arrives: packets do not overtake each other. */
  readonly #lastAt: [number, number] = [0, 0]
  silent = false
  splits: () => boolean = () => false
  onClosed: () => void = () => {}

  constructor(time: VirtualTime, delayMs: () => number, from: VirtualProcess, to: VirtualProcess) {
    this.#time = time
    this.#delayMs = delayMs
    this.#processes = [from, to]
    this.ends = [this.#end(1), this.#end(0)]
    // Until its process receives it, the kernel owns the socket.
    this.ends[0].once('error', () => {})
  }

  has(process: VirtualProcess): boolean {
    return this.#processes.includes(process)
  }

  reset(): void {
    this.onClosed()
    for (const to of [0, 1] as const) this.#deliver(to, () => this.#destroy(to))
  }

  #destroy(to: 0 | 1): void {
    this.ends[to].destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  }

  /** The end whose bytes go to `to`. */
  #end(to: 0 | 1): Duplex {
    const connection = this
    return new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        connection.#send(to, chunk)
        done()
      },
      final(done) {
        connection.#deliver(to, () => void connection.ends[to].push(null))
        done()
      },
      destroy(error, done) {
        connection.onClosed()
        connection.#deliver(to, () => connection.#destroy(to))
        done(error)
      },
    })
  }

  #send(to: 0 | 1, chunk: Buffer): void {
    const cut = this.splits() ? Math.floor(chunk.length / 2) : 0
    for (const part of cut > 0 ? [chunk.subarray(0, cut), chunk.subarray(cut)] : [chunk]) {
      this.#deliver(to, () => void this.ends[to].push(part))
    }
  }

  #deliver(to: 0 | 1, run: () => void): void {
    const at = Math.max(this.#lastAt[to], this.#time.now + this.#delayMs())
    this.#lastAt[to] = at
    this.#time.schedule(at, 'input', this.#processes[to], () => {
      if (!this.silent && !this.ends[to].destroyed) run()
    })
  }
}
