/** Bodies on the pool's side: the request body is sent to the slot, the answer body comes from it, both with backpressure. */
import { finished, Readable } from 'node:stream'
import { pieces, windowBytes } from './frames.ts'

/** Sends a request body as credit allows. When the job ends, the rest of the body stays unread. */
export class BodyPump {
  readonly #body: Readable
  #left = windowBytes
  #pending: Iterator<Uint8Array> | undefined
  #send: ((piece: Uint8Array) => void) | undefined
  #unwatch: (() => void) | undefined
  /** Set when the source has ended; its last chunk may still wait for credit. */
  #end: (() => void) | undefined

  constructor(body: Readable) {
    this.#body = body
    // The body may fail before it is read; `finished` reports that later.
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

/** An answer body. Destroying it does not end the job. */
export class AnswerBody extends Readable {
  #ungranted = 0
  #moved = false
  readonly #grant: (bytes: number) => void

  constructor(grant: (bytes: number) => void) {
    super()
    this.#grant = grant
    // A body that fails unread must not end the worker.
    this.on('error', () => {})
  }

  /** Whether a chunk has arrived since the last call. */
  moved(): boolean {
    const moved = this.#moved
    this.#moved = false
    return moved
  }

  receive(chunk: Buffer): void {
    this.#moved = true
    if (this.destroyed) this.#grant(chunk.length)
    else {
      this.#ungranted += chunk.length
      this.push(chunk)
    }
  }

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
