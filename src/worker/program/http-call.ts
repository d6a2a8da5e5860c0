/** One request on its way to a program, and its answer on its way back: neither changed nor gathered. */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import { type Duplex, Readable } from 'node:stream'
import type { HttpHead } from '../../wire/messages.ts'
import { endToEnd, pairsOf } from '../../wire/raw-headers.ts'
import type { SlotJobRequest } from '../slots/slot-run.ts'
import type { Address } from './address.ts'
import { requestHeaders } from './raw-headers.ts'

/** The longest head that a program may answer with. */
const longestHead = 256 * 1024

/** Trailers that will follow are the front's to announce anew. */
const announced: ReadonlySet<string> = new Set(['trailer'])

/** They keep no connections, and so nothing else. */
const agents = { http: new Agent(), https: new TlsAgent() } as const

export interface CallEvents {
  head(head: HttpHead, body: PassedBody): void
  upgraded(head: HttpHead, socket: Duplex): void
  /** The body is complete. `byClosing`: nothing but the end of the connection said so. */
  complete(trailers: string[], byClosing: boolean): void
  /** No (more) answer will come. */
  failed(error: NodeJS.ErrnoException): void
}

/** Exactly one of complete, upgraded and failed is the last that it tells, unless it is aborted. */
export class HttpCall {
  readonly #request: ClientRequest | undefined
  readonly #on: CallEvents
  readonly #sent: SlotJobRequest
  /** From here on the program may have seen something of the request. */
  connected = false
  #hasHead = false
  #cause: Error | undefined
  #over = false

  constructor(address: Address, sent: SlotJobRequest, on: CallEvents) {
    this.#on = on
    this.#sent = sent
    try {
      this.#request = this.#send(address)
    } catch (error) {
      queueMicrotask(() => this.#fail(error as Error))
    }
  }

  /** Closes the connection; nothing more is told. */
  abort(): void {
    this.#over = true
    this.#stopSending()
    this.#request?.destroy()
  }

  /** Fails as if the program had closed the connection. */
  breakOff(): void {
    this.#fail(new Error('aborted'))
  }

  #send({ connect, tls, authority }: Address): ClientRequest {
    const { http, body } = this.#sent
    const { method, target } = http!
    const request = (tls ? httpsRequest : httpRequest)({
      ...connect,
      agent: agents[tls ? 'https' : 'http'],
      method,
      path: target,
      headers: requestHeaders(http!, body !== undefined, authority),
      maxHeaderSize: longestHead,
    })
    request.on('error', (error) => {
      this.#cause = error
      // Once there is a head, the answer tells itself whether it is complete: all of it may be here already.
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
    request.on('socket', (socket) => {
      socket.once(tls ? 'secureConnect' : 'connect', () => {
        this.connected = true
        // Not before: a request that did not reach its program is sent to another with all of its body.
        if (body && !this.#over) this.#sendBody(body, request)
      })
    })
    if (body) request.flushHeaders()
    else request.end()
    return request
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
      if (!body.readableEnded) this.#fail(new Error('the request broke off'))
    }
    body.on('error', broken).on('close', broken)
    if (body.destroyed) broken()
    else body.pipe(request, { end: false })
  }

  /** What is left of the body stays unread, for its owner to decide. */
  #stopSending(): void {
    this.#sent.body?.unpipe()
  }

  #receive(response: IncomingMessage): void {
    if (this.#over) return
    this.#hasHead = true
    this.#on.head(headOf(response), new PassedBody(response))
    response.on('error', (error) => this.#fail(error))
    response.on('close', () => this.#fail(new Error('aborted')))
    response.on('end', () => {
      if (this.#over) return
      this.#over = true
      this.#stopSending()
      // A program may answer before it has read all.
      if (!this.#request!.writableFinished) this.#request!.destroy()
      this.#on.complete(response.rawTrailers, this.#endsByClosing(response))
    })
  }

  #endsByClosing({ headers, statusCode }: IncomingMessage): boolean {
    const hasBody = this.#sent.http!.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
    const framed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    return hasBody && !framed
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#over) return
    this.abort()
    this.#on.failed(this.#cause ?? error)
  }
}

function headOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage): HttpHead {
  // Whoever passes the answer on can announce the trailers too.
  return { status: statusCode, message: statusMessage, headers: endToEnd(rawHeaders, { kept: announced }) }
}

/** An answer's body as it comes, no faster than it is read. Whoever destroys it lets the job run on unheard. */
export class PassedBody extends Readable {
  readonly #source: IncomingMessage

  constructor(source: IncomingMessage) {
    super()
    this.#source = source
    source.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) source.pause()
    })
    // A body that breaks off must not end the worker because nobody reads it.
    this.on('error', () => {})
  }

  /** All of it has come. */
  complete(): void {
    this.push(null)
  }

  override _read(): void {
    this.#source.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#source.resume()
    done(error)
  }
}
