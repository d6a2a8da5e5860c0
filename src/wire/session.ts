/** Messages that survive a reconnect: numbered, kept until acknowledged, and sent again on the next connection. */

import type { Line } from './lines.ts'

/** A numbered message, or none, with an acknowledgement: the number of the last message received. */
export interface Frame<T> {
  n?: number
  a: number
  m?: T
}

/** Received messages are acknowledged at least this often. */
const acknowledgeEvery = 64

export class Session<In, Out> {
  #line: Line<Frame<Out>> | undefined
  #sent = 0
  /** The messages up to `#sent` that are not acknowledged. Those before `#start` are. */
  #kept: Out[] = []
  #start = 0
  #received = 0
  #acknowledged = 0

  /** The number of the last message received. */
  get received(): number {
    return this.#received
  }

  /** Messages not acknowledged yet. */
  get kept(): number {
    return this.#kept.length - this.#start
  }

  get isAttached(): boolean {
    return this.#line !== undefined
  }

  /** Delivered exactly once and in order, now or after the next `attach`. */
  send(message: Out): void {
    this.#kept.push(message)
    this.#transmit(++this.#sent, message)
  }

  /** Continues over this connection. The other side has all messages up to `have`. */
  attach(line: Line<Frame<Out>>, have: number): void {
    this.#line = line
    this.#drop(have)
    const first = this.#sent - this.kept + 1
    this.#kept.slice(this.#start).forEach((message, i) => {
      this.#transmit(first + i, message)
    })
  }

  detach(): void {
    this.#line = undefined
  }

  /** The message of a frame; undefined: none, or a duplicate. */
  take({ n, a, m }: Frame<In>): In | undefined {
    this.#drop(a)
    if (n === undefined || n <= this.#received) return undefined
    this.#received = n
    if (n - this.#acknowledged >= acknowledgeEvery) this.beat()
    return m
  }

  /** Sends a heartbeat with an acknowledgement. */
  beat(): void {
    this.#acknowledged = this.#received
    this.#line?.send({ a: this.#received })
  }

  #transmit(n: number, m: Out): void {
    if (!this.#line) return
    this.#acknowledged = this.#received
    this.#line.send({ n, a: this.#received, m })
  }

  #drop(have: number): void {
    const unknown = Math.max(0, this.#sent - have)
    if (unknown >= this.kept) return
    this.#start = this.#kept.length - unknown
    // Moving the rest costs as much as dropping the beginning, so it is moved only when it is the smaller part.
    if (this.#start <= unknown) return
    this.#kept = this.#kept.slice(this.#start)
    this.#start = 0
  }
}
