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
      const [near, far] = this.pair(from, listener!.process)
      listener!.accept(far)
      this.#time.schedule(this.#time.now + this.delayMs(), 'input', from, () => answer.resolve(near))
    })
    return answer.promise
  }

  /** The two ends of a new connection. */
  pair(from: VirtualProcess, to: VirtualProcess): readonly [Duplex, Duplex] {
    const connection = new Connection(this.#time, () => this.delayMs(), from, to)
    connection.splits = () => this.#random.next() < splitRate
    connection.onClosed = () => this.#open.delete(connection)
    this.#open.add(connection)
    return connection.ends
  }

  delayMs(): number {
    return leastMs + this.#random.next() ** 3 * (mostMs - leastMs)
  }

  /** The kernel resets the connections of a process that has ended. */
  ended(process: VirtualProcess): void {
    for (const connection of [...this.#open]) if (connection.processes.includes(process)) connection.reset()
  }

  /**
   * Resets one open connection, or makes it fall silent: neither side receives anything, nor learns of it. Those of the
   * process `spared` are left alone.
   */
  disturb(kind: 'reset' | 'silent', spared: VirtualProcess): void {
    const open = [...this.#open].filter(({ processes }) => !processes.includes(spared))
    const connection = open[this.#random.below(Math.max(1, open.length))]
    if (kind === 'reset') connection?.reset()
    else if (connection) connection.silent = true
  }
}

/** Bytes that a sender may have on their way, or unread at the receiver, before it has to wait. */
const windowBytes = 128 * 1024

class Connection {
  readonly #time: VirtualTime
  readonly #delayMs: () => number
  readonly processes: readonly [VirtualProcess, VirtualProcess]
  readonly ends: readonly [VirtualSocket, VirtualSocket]
  /** When the last packet to each end arrives: packets do not overtake each other. */
  readonly #lastAt: [number, number] = [0, 0]
  silent = false
  splits: () => boolean = () => false
  onClosed: () => void = () => {}

  constructor(time: VirtualTime, delayMs: () => number, from: VirtualProcess, to: VirtualProcess) {
    this.#time = time
    this.#delayMs = delayMs
    this.processes = [from, to]
    this.ends = [new VirtualSocket(this, 0), new VirtualSocket(this, 1)]
    // Until its process receives it, the kernel owns the socket.
    this.ends[0].once('error', () => {})
  }

  reset(): void {
    this.onClosed()
    for (const to of [0, 1] as const) this.deliver(to, () => this.destroy(to))
  }

  destroy(to: 0 | 1): void {
    this.ends[to].destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  }

  deliver(to: 0 | 1, run: () => void): void {
    const at = Math.max(this.#lastAt[to], this.#time.now + this.#delayMs())
    this.#lastAt[to] = at
    this.#time.schedule(at, 'input', this.processes[to], () => {
      if (!this.silent && !this.ends[to].destroyed) run()
    })
  }
}

/** One end of a connection. Has what the code uses of a socket of Node. */
class VirtualSocket extends Duplex {
  readonly #connection: Connection
  readonly #to: 0 | 1
  readonly remoteAddress = '127.0.0.1'
  /** Bytes that the other side has not taken. */
  #open = 0
  #taken = 0
  bytesRead = 0
  /** Continues to write when the other side has taken enough. */
  #waiting: (() => void) | undefined
  /** Received, and not passed on to the reader. */
  #unread = 0

  constructor(connection: Connection, index: 0 | 1) {
    super()
    this.#connection = connection
    this.#to = index === 0 ? 1 : 0
  }

  get #other(): VirtualSocket {
    return this.#connection.ends[this.#to]
  }

  get bytesWritten(): number {
    return this.#taken + this.writableLength
  }

  /** What Node's HTTP server and the watch of slow clients use of it. */
  get _handle(): { writeQueueSize: number; readStart(): void; readStop(): void } {
    const writeQueueSize = this.#waiting ? Math.max(0, this.#open - windowBytes) : 0
    return { writeQueueSize, readStart() {}, readStop() {} }
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const connection = this.#connection
    this.#open += chunk.length
    const cut = connection.splits() ? Math.floor(chunk.length / 2) : 0
    for (const part of cut > 0 ? [chunk.subarray(0, cut), chunk.subarray(cut)] : [chunk])
      connection.deliver(this.#to, () => this.#other.#receive(part))
    const written = () => {
      this.#taken += chunk.length
      done()
    }
    if (this.#open <= windowBytes) written()
    else this.#waiting = written
  }

  #receive(part: Buffer): void {
    this.bytesRead += part.length
    this.#unread += part.length
    if (this.push(part)) this._read()
  }

  override _read(): void {
    const bytes = this.#unread
    this.#unread = 0
    if (bytes > 0) this.#other.#took(bytes)
  }

  /** The other side has taken these bytes. */
  #took(bytes: number): void {
    this.#open -= bytes
    const waiting = this.#waiting
    if (!waiting || this.#open > windowBytes / 2) return
    this.#waiting = undefined
    this.#connection.deliver(this.#to === 0 ? 1 : 0, waiting)
  }

  override _final(done: () => void): void {
    this.#connection.deliver(this.#to, () => void this.#other.push(null))
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const connection = this.#connection
    connection.onClosed()
    // What was written before the end can still be read.
    if (!this.writableFinished) connection.deliver(this.#to, () => connection.destroy(this.#to))
    done(error)
  }

  resetAndDestroy(): this {
    return this.destroy()
  }

  setTimeout(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
