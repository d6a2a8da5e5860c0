/** Bodies on the pool's side: a request's body goes to the slot, an answer's comes from it, both as fast as they are read. */
import { finished, Readable } from 'node:stream'
import { pieces, windowBytes } from './frames.ts'

/** Sends a request's body as credit allows. What is left when the job ends stays unread, for the caller to decide. */
export class BodyPump {
  readonly #body: Readable
  #left = windowBytes
  #pending: Iterator<Uint8Array> | undefined
  #send: ((piece: Uint8Array) => void) | undefined
  #unwatch: (() => void) | undefined
  /** The source has ended, perhaps while its last chunk waits for credit. */
  #end: (() => void) | undefined

  constructor(body: Readable) {
    this.#body = body
    // It may break before anybody reads it; `finished` tells later.
    body.on('error', () => {})
  }

  start(send: (piece: Uint8Array) => void, end: (error?: string) => void): void {
    this.#send = send
    this.#unwatch = finished(this.#body, { writable: false }, (error) => {
      this.#end = () => end(error?.message)
      if (!this.#pending) this.#end()
    })
    this.#body.on('data', this.#take)
  }

  grant(bytes: number): void {
    this.#left += bytes
    if (this.#pending) this.#flush()
  }

  stop(): void {
    if (!this.#send) return
    this.#body.off('data', this.#take)
    this.#body.pause()
    this.#unwatch?.()
    this.#send = undefined
  }

  #take = (chunk: Uint8Array | string): void => {
    this.#body.pause()
    this.#pending = pieces(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    this.#flush()
  }

  #flush(): void {
    while (this.#send && this.#left > 0) {
      const { value, done } = this.#pending!.next()
      if (done) {
        this.#pending = undefined
        this.#body.resume()
        return this.#end?.()
      }
      this.#left -= value.length
      this.#send(value)
    }
  }
}

/** An answer's body. Whoever destroys it lets the job run on unheard. */
export class AnswerBody extends Readable {
  #ungranted = 0
  readonly #grant: (bytes: number) => void

  constructor(grant: (bytes: number) => void) {
    super()
    this.#grant = grant
    // A body that breaks off must not end the supervisor because nobody reads it.
    this.on('error', () => {})
  }

  receive(chunk: Buffer): void {
    if (this.destroyed) this.#grant(chunk.length)
    else {
      this.#ungranted += chunk.length
      this.push(chunk)
    }
  }

  /** Called when the reader has room again. */
  override _read(): void {
    if (this.#ungranted === 0) return
    this.#grant(this.#ungranted)
    this.#ungranted = 0
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this._read()
    done(error)
  }
}
