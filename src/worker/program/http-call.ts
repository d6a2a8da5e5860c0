/** One HTTP request to a program or upstream, and its answer: both streamed unchanged. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { limitConnecting } from '../../lib/limit-connecting.ts'
import { passedBuffer } from '../../lib/young-buffers.ts'
import type { HttpHead } from '../../wire/messages.ts'
import { endToEnd, pairsOf } from '../../wire/raw-headers.ts'
import type { JobRequest } from '../job-run.ts'
import { LongBody } from './long-body.ts'
import { readFrom } from './reading-agent.ts'
import { requestHeaders } from './request-headers.ts'
import type { RequestTarget } from './request-target.ts'

/** Buffered of an answer before its program has to wait. */
const bufferBytes = 256 * 1024
/** A longer body is passed on without being parsed, if its length is known. */
const longBytes = 256 * 1024
/** Maximum size of an answer's head. */
const maxHeadBytes = 256 * 1024

/** Hop-by-hop, but kept: the front announces the trailers to the client. */
const announced: ReadonlySet<string> = new Set(['trailer'])

/** Time allowed for a connection. */
const connectMs = 10_000

/** A reused connection that fails within this time was closed by the program before the request arrived. */
const staleMs = 100

export interface CallEvents {
  /** `long`: has the bytes of the body. */
  head(head: HttpHead, body: AnswerStream, long: LongBody | undefined): void
  upgraded(head: HttpHead, socket: Duplex): void
  /** The body is complete. `byClosing`: only the end of the connection marked its end. */
  complete(trailers: string[], byClosing: boolean): void
  /** The answer failed, or will not arrive. */
  failed(error: NodeJS.ErrnoException): void
}

/** The last event is exactly one of complete, upgraded and failed, unless the call is aborted. */
export class HttpCall {
  #request: ClientRequest | undefined
  #socket: Socket | undefined
  readonly #on: CallEvents
  readonly #sent: JobRequest
  readonly #target: RequestTarget
  /** Whether the program may have received a part of the request. */
  connected = false
  #hasHead = false
  #cause: Error | undefined
  #over = false

  constructor(target: RequestTarget, sent: JobRequest, on: CallEvents) {
    this.#target = target
    this.#on = on
    this.#sent = sent
    this.#start(isReplayable(sent))
  }

  #start(reuse: boolean): void {
    try {
      this.#request = this.#send(reuse)
    } catch (error) {
      queueMicrotask(() => this.#fail(error as Error))
    }
  }

  /** Bytes sent and received so far. */
  get bytes(): number {
    const { bytesRead = 0, bytesWritten = 0 } = this.#socket ?? {}
    return bytesRead + bytesWritten
  }

  /** Closes the connection; no more events follow. */
  abort(): void {
    this.#over = true
    this.#stopSending()
    this.#request?.destroy()
  }

  /** Fails as if the program had closed the connection. */
  fail(): void {
    this.#fail(new Error('aborted'))
  }

  #send(reuse: boolean): ClientRequest {
    const { connect, tls, authority } = this.#target.address
    const { http, body } = this.#sent
    const sentAt = performance.now()
    const { method, target } = http!
    const request = (tls ? httpsRequest : httpRequest)({
      ...connect,
      agent: this.#target.connections.agent(reuse),
      method,
      path: target,
      headers: requestHeaders(http!, body !== undefined, authority),
      maxHeaderSize: maxHeadBytes,
    })
    request.on('error', (error) => {
      if (this.#isStale(request, sentAt)) return this.#startAgain()
      this.#cause = error
      // After the head, the response reports whether it is complete: it may already have arrived.
      if (!this.#hasHead) this.#fail(error)
    })
    request.on('response', (response) => this.#receive(response))
    if (http!.upgrade) {
      request.on('upgrade', (response, socket: Duplex, first: Buffer) => {
        if (this.#over) return socket.destroy()
        this.#over = true
        if (first.length > 0) socket.unshift(first)
        this.#on.upgraded({ ...headOf(response), headers: response.rawHeaders }, socket)
      })
    }
    limitConnecting(request, connectMs)
    request.on('socket', (socket) => {
      this.#socket = socket
      const connected = () => {
        this.connected = true
        // Not earlier: a request that does not reach its program is sent to another one with its whole body.
        if (body && !this.#over) this.#sendBody(body, request)
      }
      if (request.reusedSocket) connected()
      else socket.once(tls ? 'secureConnect' : 'connect', connected)
    })
    // Unlike `flushHeaders`, which would encode bytes above 127 as UTF-8.
    if (body) request.write('', 'latin1')
    else request.end()
    return request
  }

  #startAgain(): void {
    this.connected = false
    this.#start(false)
  }

  /** The program closed an idle connection just when the request was sent on it. */
  #isStale(request: ClientRequest, sentAt: number): boolean {
    if (!request.reusedSocket || this.#hasHead || this.#over) return false
    return performance.now() - sentAt < staleMs && !this.#target.isEnding()
  }

  #sendBody(body: Readable, request: ClientRequest): void {
    const { trailers } = this.#sent
    body.on('end', () => {
      if (this.#over) return
      const sent = trailers?.() ?? []
      if (sent.length > 0) request.addTrailers(pairsOf(sent))
      request.end()
    })
    const broken = () => {
      if (!body.readableEnded) this.#fail(new Error('the request body failed'))
    }
    body.on('error', broken).on('close', broken)
    if (body.destroyed) broken()
    else body.on('data', (chunk: Buffer) => passedBuffer(chunk.length)).pipe(request, { end: false })
  }

  /** Leaves the rest of the body unread. */
  #stopSending(): void {
    this.#sent.body?.unpipe()
  }

  #receive(response: IncomingMessage): void {
    if (this.#over) return
    this.#hasHead = true
    const long = this.#readLong(response)
    this.#on.head(headOf(response), new AnswerStream(long ? undefined : response), long)
    response.on('error', (error) => this.#fail(error))
    response.on('close', () => this.#fail(new Error('aborted')))
    response.on('end', () => {
      if (this.#over) return
      this.#over = true
      this.#stopSending()
      // A program may answer before it has read the whole request.
      if (!this.#request!.writableFinished) this.#request!.destroy()
      this.#on.complete(response.rawTrailers, this.#endsByClosing(response))
    })
  }

  /** What arrives after this data bypasses the parser, so the connection is closed at the end. */
  #readLong(response: IncomingMessage): LongBody | undefined {
    const { headers } = response
    const bytes = Number(headers['content-length'] ?? 0)
    if (!this.#sent.channel || !this.#hasBody(response) || !(bytes > longBytes)) return undefined
    const socket = this.#socket!
    const long = new LongBody({
      bytes,
      resume: () => void socket.resume(),
      complete: () => {
        if (this.#over) return
        this.abort()
        this.#on.complete([], false)
      },
    })
    if (!readFrom(socket, long)) return undefined
    response.on('data', (chunk: Buffer) => long.read(chunk))
    return long
  }

  #endsByClosing(response: IncomingMessage): boolean {
    const { headers } = response
    const framed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    return this.#hasBody(response) && !framed
  }

  #hasBody({ statusCode }: IncomingMessage): boolean {
    return this.#sent.http!.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#over) return
    this.abort()
    this.#on.failed(this.#cause ?? error)
  }
}

/** Whether the request can be sent again if its connection turns out to be closed. */
function isReplayable({ repeatable, body, http }: JobRequest): boolean {
  return repeatable === true && !body && !http!.upgrade
}

function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): HttpHead {
  return { status: statusCode, message: statusMessage, headers: endToEnd(rawHeaders, { kept: announced }) }
}

/** An answer's body, with backpressure. Destroying it does not end the job. */
export class AnswerStream extends Readable {
  readonly #source: IncomingMessage | undefined

  /** Without a source it has no bytes, and only ends or fails. */
  constructor(source: IncomingMessage | undefined) {
    super({ highWaterMark: bufferBytes })
    this.#source = source
    source?.on('data', (chunk: Buffer) => {
      passedBuffer(chunk.length)
      if (!this.destroyed && !this.push(chunk)) source.pause()
    })
    // A body that fails unread must not end the worker.
    this.on('error', () => {})
  }

  /** Marks the body as complete. */
  complete(): void {
    this.push(null)
  }

  override _read(): void {
    this.#source?.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source?.resume()
    done(error)
  }
}
