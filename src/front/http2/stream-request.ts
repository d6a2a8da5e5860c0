/** A request on a stream of HTTP/2, in the form of an HTTP/1.1 request: the rest of the front knows no difference. */

import { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { StreamHead } from './stream-head.ts'
import { StreamResponse } from './stream-response.ts'

/** The method by which Node's HTTP/1 parser sets headers, and then trailers. It joins repeated ones as HTTP/1 does. */
interface HeaderLines {
  _addHeaderLines(raw: string[], count: number): void
}

/** `CANCEL` of HTTP/2: nothing more of the stream is wanted. */
const cancelCode = 8

export class StreamRequest extends IncomingMessage {
  readonly #stream: ServerHttp2Stream
  readonly response: StreamResponse
  /** True: what follows on the stream is another protocol, not a body. */
  readonly switches: boolean
  /** Received so far of its body. */
  streamedBytes = 0

  /** `socket`: the connection of the stream. */
  constructor(stream: ServerHttp2Stream, socket: Socket, { method, target, headers, protocol }: StreamHead) {
    super(socket)
    this.#stream = stream
    this.method = method
    this.url = target
    this.httpVersion = '2.0'
    this.httpVersionMajor = 2
    this.httpVersionMinor = 0
    this.#lines._addHeaderLines(headers, headers.length)
    this.switches = protocol !== undefined
    if (this.switches) this.#end([])
    else if (stream.endAfterHeaders) {
      stream.resume()
      this.#end([])
    } else this.#receive()
    this.response = new StreamResponse(stream, this)
    stream.once('close', () => {
      if (!this.complete) this.destroy()
    })
  }

  override _read(): void {
    if (!this.complete) this.#stream.resume()
  }

  override _destroy(_error: Error | null, callback: (error?: Error | null) => void): void {
    this.aborted = !this.complete
    if (this.aborted) this.#stream.close(cancelCode)
    callback()
  }

  #receive(): void {
    let trailers: string[] = []
    const stream = this.#stream
    stream.on('trailers', (_fields, _flags, raw: string[]) => {
      trailers = raw
    })
    stream.on('data', (chunk: Buffer) => {
      this.streamedBytes += chunk.length
      if (!this.push(chunk)) stream.pause()
    })
    stream.once('end', () => {
      // A stream that was reset ends too.
      if (!stream.aborted) this.#end(trailers)
    })
    // Nothing is received before it is wanted: the client may wait for 100 Continue.
    stream.pause()
  }

  #end(trailers: string[]): void {
    this.complete = true
    if (trailers.length > 0) this.#lines._addHeaderLines(trailers, trailers.length)
    this.push(null)
  }

  get #lines(): HeaderLines {
    return this as unknown as HeaderLines
  }
}
