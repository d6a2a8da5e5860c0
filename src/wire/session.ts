/** Messages that outlive a connection: numbered, kept until the other side has them, and sent again on the next one. */

import type { Line } from './lines.ts'

/** A message with its number, or none; and the number of the last one that came from the other side. */
export interface Frame<T> {
  n?: number
  a: number
  m?: T
}

/** Unasked, the other side is told so often what has come. */
const acknowledgeEvery = 64

export class Session<In, Out> {
  #line: Line<Frame<Out>> | undefined
  #sent = 0
  #kept: { n: number; m: Out }[] = []
  #received = 0
  #told = 0

  /** The number of the last message that came. */
  get received(): number {
    return this.#received
  }

  /** How many messages the other side may not have. */
  get kept(): number {
    return this.#kept.length
  }

  get isAttached(): boolean {
    return this.#line !== undefined
  }

  /** It arrives once and in its turn, now or after the next `attach`. */
  send(message: Out): void {
    const n = ++this.#sent
    this.#kept.push({ n, m: message })
    this.#transmit(n, message)
  }

  /** Goes on over this connection, whose other end has had all messages up to `have`. */
  attach(line: Line<Frame<Out>>, have: number): void {
    this.#line = line
    this.#drop(have)
    for (const { n, m } of this.#kept) this.#transmit(n, m)
  }

  detach(): void {
    this.#line = undefined
  }

  /** What this frame brings; undefined: nothing, or what has come before. */
  take({ n, a, m }: Frame<In>): In | undefined {
    this.#drop(a)
    if (n === undefined || n <= this.#received) return undefined
    this.#received = n
    if (n - this.#told >= acknowledgeEvery) this.beat()
    return m
  }

  /** Says that this side is there, and what it has. */
  beat(): void {
    this.#told = this.#received
    this.#line?.send({ a: this.#received })
  }

  #transmit(n: number, m: Out): void {
    if (!this.#line) return
    this.#told = this.#received
    this.#line.send({ n, a: this.#received, m })
  }

  #drop(have: number): void {
    let count = 0
    while (count < this.#kept.length && this.#kept[count]!.n <= have) count++
    if (count > 0) this.#kept.splice(0, count)
  }
}
