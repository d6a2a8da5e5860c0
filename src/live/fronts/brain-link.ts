/** A front's connection to the brain. It reconnects when it breaks, and resumes its session if the brain is the same. */

import { WireError } from '../../lib/errors.ts'
import { connectToBrain, originOf } from '../../wire/connect.ts'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from '../../wire/front-messages.ts'
import type { JoinAddresses } from '../../wire/join-addresses.ts'
import { type NotLeader, termOf } from '../../wire/leading.ts'
import type { Line } from '../../wire/lines.ts'
import { wireVersion } from '../../wire/messages.ts'
import { type Frame, Session } from '../../wire/session.ts'

/** Backoff of reconnects. */
const [firstWaitMs, longestWaitMs] = [50, 2_000]
/** A brain that misses this many heartbeats is unreachable. */
const silentBeats = 10
/** Time limit for the welcome after the connection is accepted. */
const usualWelcomeMs = 10_000

type In = FrontWelcome | { type: 'refused'; message: string } | NotLeader | Frame<ToFront>
type Out = FrontHello | Frame<FromFront>

export interface BrainLinkParts {
  join: JoinAddresses
  token: string
  hello: Omit<FrontHello, 'type' | 'version' | 'session' | 'received'>
  /** Opens a connection to the brain. Default: over HTTP. */
  connect?: typeof connectToBrain<In, Out>
  /** Time limit for the welcome. Default: 10 s. */
  welcomeMs?: number
  /** `resumed`: it is the same brain, and the session continues. */
  onWelcome(welcome: FrontWelcome): void
  onMessage(message: ToFront): void
  onLost(): void
  /** Retrying is pointless. */
  onRefused(error: WireError): void
}

export class BrainLink {
  readonly #parts: BrainLinkParts
  #session = new Session<ToFront, FromFront>()
  #name: string | undefined
  #line: Line<Out> | undefined
  #beat: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #welcomeLimit: NodeJS.Timeout | undefined
  #lastMessageAt = 0
  #waitMs = firstWaitMs
  #closed = false
  /** Of the last leader that it has joined. */
  #term = 0

  constructor(parts: BrainLinkParts) {
    this.#parts = parts
  }

  /** True: messages are sent at once; else they are kept for the next connection. */
  get isUp(): boolean {
    return this.#session.isAttached
  }

  /** Rejects with a `WireError` if the brain is unreachable. Later disconnects are retried. */
  async open(): Promise<void> {
    const { join, token, hello, connect = connectToBrain } = this.#parts
    const { limitMs } = join
    const line: Line<Out> = await connect(
      join.current,
      { role: 'front', token, ...(limitMs !== undefined && { limitMs }) },
      (message) => this.#receive(line, message),
      () => this.#broken(line),
    )
    if (this.#closed) return line.cut()
    this.#line = line
    this.#lastMessageAt = performance.now()
    line.send({
      type: 'front',
      version: wireVersion,
      ...hello,
      ...(this.#name !== undefined && { session: this.#name }),
      received: this.#session.received,
      ...(join.isFollower && { follows: this.#term }),
    })
    this.#welcomeLimit = setTimeout(() => this.#welcomeTimedOut(line), this.#welcomeMs)
  }

  /** Delivered exactly once, as long as the brain is the same. */
  send(message: FromFront): void {
    this.#session.send(message)
  }

  /** Closes after all messages are sent. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#welcomeLimit)
    clearInterval(this.#beat)
    this.#line?.close()
  }

  get #welcomeMs(): number {
    return this.#parts.welcomeMs ?? this.#parts.join.limitMs ?? usualWelcomeMs
  }

  #welcomeTimedOut(line: Line<Out>): void {
    if (this.#isFirst) this.#cannotJoin(`it did not answer within ${this.#welcomeMs / 1000} s`)
    line.cut()
    // It may have closed before the close handler was set.
    this.#broken(line)
  }

  /** The only brain was never joined: a failure is final. */
  get #isFirst(): boolean {
    return this.#name === undefined && !this.#parts.join.isFollower
  }

  #cannotJoin(why: string): void {
    this.#refused(new WireError(`cannot join ${originOf(this.#parts.join.current)}: ${why}`, true))
  }

  #receive(line: Line<Out>, message: In): void {
    if (line !== this.#line) return
    this.#lastMessageAt = performance.now()
    if (!('type' in message)) {
      const taken = this.#session.take(message)
      if (taken) this.#parts.onMessage(taken)
    } else if (message.type === 'welcome') this.#welcome(line, message)
    else if (message.type === 'not-leader') line.cut()
    else this.#refused(new WireError(message.message, true))
  }

  #welcome(line: Line<Out>, welcome: FrontWelcome): void {
    this.#waitMs = firstWaitMs
    this.#parts.join.joined()
    this.#term = Math.max(this.#term, termOf(welcome.epoch))
    clearTimeout(this.#welcomeLimit)
    if (!welcome.resumed) this.#session = new Session()
    this.#name = welcome.session
    this.#session.attach(line, welcome.received)
    clearInterval(this.#beat)
    this.#beat = setInterval(() => {
      if (performance.now() - this.#lastMessageAt > silentBeats * welcome.beatMs) line.cut()
      else this.#session.beat()
    }, welcome.beatMs)
    this.#parts.onWelcome(welcome)
  }

  #broken(line: Line<Out>): void {
    if (line !== this.#line) return
    this.#line = undefined
    clearTimeout(this.#welcomeLimit)
    clearInterval(this.#beat)
    const wasUp = this.isUp
    this.#session.detach()
    if (this.#closed) return
    if (this.#isFirst)
      return this.#cannotJoin('it closed the connection without an answer; does its version support fronts?')
    if (wasUp) this.#parts.onLost()
    this.#tryAgain()
  }

  #tryAgain(): void {
    // Jitter: fronts that lost the same brain must not all reconnect at once.
    const { join } = this.#parts
    const againMs = this.#waitMs * (0.5 + Math.random() / 2)
    this.#waitMs = Math.min(longestWaitMs, this.#waitMs * 2)
    const waitMs = join.isFollower ? join.next() : againMs
    this.#retry = setTimeout(() => {
      this.open().catch((error: WireError) => {
        if (this.#closed) return
        if (error.final) this.#refused(error)
        else this.#tryAgain()
      })
    }, waitMs)
  }

  #refused(error: WireError): void {
    this.close()
    this.#parts.onRefused(error)
  }
}
