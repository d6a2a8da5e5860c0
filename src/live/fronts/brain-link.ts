/** A front's connection to the brain: opened again whenever it breaks, and gone on with where the same brain is still there. */

import { WireError } from '../../lib/errors.ts'
import { connectToBrain } from '../../wire/connect.ts'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from '../../wire/front-messages.ts'
import type { Line } from '../../wire/lines.ts'
import { wireVersion } from '../../wire/messages.ts'
import { type Frame, Session } from '../../wire/session.ts'

/** Tries to come back wait longer and longer. */
const [firstWaitMs, longestWaitMs] = [50, 2_000]
/** A brain that is silent for so many beats is not there. */
const silentBeats = 10
/** Whoever took the connection and has not welcomed the front by then will not. */
const usualWelcomeMs = 10_000

type In = FrontWelcome | { type: 'refused'; message: string } | Frame<ToFront>
type Out = FrontHello | Frame<FromFront>

export interface BrainLinkParts {
  join: URL
  token: string
  hello: Omit<FrontHello, 'type' | 'version' | 'session' | 'received'>
  /** How long a welcome is waited for. Default: 10 s. */
  welcomeMs?: number
  /** `resumed`: it is the brain that was there before, and knows what it knew. */
  onWelcome(welcome: FrontWelcome): void
  onMessage(message: ToFront): void
  onLost(): void
  /** There is no use in trying again. */
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
  #heardAt = 0
  #waitMs = firstWaitMs
  #closed = false

  constructor(parts: BrainLinkParts) {
    this.#parts = parts
  }

  /** True: what is sent now is on its way at once. */
  get isUp(): boolean {
    return this.#session.isAttached
  }

  /** Rejects with a `WireError` if the brain cannot be reached; later it is tried again and again. */
  async open(): Promise<void> {
    const { join, token, hello } = this.#parts
    const line: Line<Out> = await connectToBrain<In, Out>(
      join,
      token,
      (message) => this.#heard(line, message),
      () => this.#broken(line),
    )
    if (this.#closed) return line.cut()
    this.#line = line
    this.#heardAt = performance.now()
    line.send({
      type: 'front',
      version: wireVersion,
      ...hello,
      ...(this.#name !== undefined && { session: this.#name }),
      received: this.#session.received,
    })
    this.#welcomeLimit = setTimeout(() => this.#unwelcome(line), this.#welcomeMs)
  }

  /** It reaches the brain once, as long as that is the same. */
  send(message: FromFront): void {
    this.#session.send(message)
  }

  /** Ends after what was sent. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#welcomeLimit)
    clearInterval(this.#beat)
    this.#line?.close()
  }

  get #welcomeMs(): number {
    return this.#parts.welcomeMs ?? usualWelcomeMs
  }

  #unwelcome(line: Line<Out>): void {
    if (this.#name === undefined) this.#notTaken(`it did not answer within ${this.#welcomeMs / 1000} s`)
    line.cut()
    // It may have been closed before anyone listened for that.
    this.#broken(line)
  }

  /** At the first try there is somebody to be told. */
  #notTaken(why: string): void {
    this.#refused(new WireError(`cannot join ${this.#parts.join.origin}: ${why}`, true))
  }

  #heard(line: Line<Out>, message: In): void {
    if (line !== this.#line) return
    this.#heardAt = performance.now()
    if (!('type' in message)) {
      const taken = this.#session.take(message)
      if (taken) this.#parts.onMessage(taken)
    } else if (message.type === 'welcome') this.#welcome(line, message)
    else this.#refused(new WireError(message.message, true))
  }

  #welcome(line: Line<Out>, welcome: FrontWelcome): void {
    this.#waitMs = firstWaitMs
    clearTimeout(this.#welcomeLimit)
    if (!welcome.resumed) this.#session = new Session()
    this.#name = welcome.session
    this.#session.attach(line, welcome.received)
    clearInterval(this.#beat)
    this.#beat = setInterval(() => {
      if (performance.now() - this.#heardAt > silentBeats * welcome.beatMs) line.cut()
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
    if (this.#name === undefined)
      return this.#notTaken('it closed the connection without a word: does it know fronts?')
    if (wasUp) this.#parts.onLost()
    this.#tryAgain()
  }

  #tryAgain(): void {
    // Fronts that lost the same brain do not all come back at the same moment.
    const waitMs = this.#waitMs * (0.5 + Math.random() / 2)
    this.#waitMs = Math.min(longestWaitMs, this.#waitMs * 2)
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
