/** Serves connections of HTTP/2: each stream becomes a request of the HTTP server, within limits for each connection. */

import { randomBytes } from 'node:crypto'
import type { ServerHttp2Session, ServerHttp2Stream, ServerOptions } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { RequestProblem, sendProblem } from '../problem.ts'
import { resetConnection } from '../tls/below.ts'
import { streamHead } from './stream-head.ts'
import { StreamRequest } from './stream-request.ts'
import type { StreamResponse } from './stream-response.ts'

export interface SessionParts {
  /** Largest request head. */
  headerBytes: number
  /** Time limit for a whole request; 0: none. */
  requestMs: number
  /** True: clients may ask for another protocol on a stream. */
  upgrades: boolean
  /** Requests are emitted as it emits those of HTTP/1. */
  server: Server
  /** A connection was closed because its client exceeded a limit. */
  refused(address: string, why: string): void
}

/** Concurrent requests of one connection. Further streams are refused; a client may repeat them. */
const mostStreams = 128
/** Fields of a head. */
const mostFields = 256
/**
 * Requests that a client may reset at once, and per second after that. A client that starts and resets requests forever
 * ("rapid reset") is disconnected.
 */
const [resetBurst, resetsPerSecond] = [500, 50]
/** PING and SETTINGS frames that a client may send at once, and per second after that. Each one must be answered. */
const [controlBurst, controlsPerSecond] = [1_000, 250]
/** Time in which the reason may reach a client that is disconnected for too many of them. */
const farewellMs = 1_000
/** A connection without requests is closed after this time. */
const idleMs = 60_000
/** Memory that Node may use for one connection, in MB. */
const sessionMb = 8
/** What a client may send of one body, and of all its bodies, before it is read. */
const [streamWindow, sessionWindow] = [256 * 1024, 1024 * 1024]
/** `ENHANCE_YOUR_CALM` of HTTP/2. */
const calmCode = 11

/** The HTTP/2 connections of a front. */
export class Http2Sessions {
  readonly #parts: SessionParts
  readonly #options: ServerOptions
  readonly #open = new Map<ServerHttp2Session, Set<ServerHttp2Stream>>()

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#options = {
      maxHeaderListPairs: mostFields,
      maxSessionMemory: sessionMb,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      streamResetBurst: resetBurst,
      streamResetRate: resetsPerSecond,
      // Answers of programs are passed on as they are.
      strictSingleValueFields: false,
      settings: {
        maxConcurrentStreams: mostStreams,
        maxHeaderListSize: parts.headerBytes,
        initialWindowSize: streamWindow,
        enablePush: false,
        ...(parts.upgrades && { enableConnectProtocol: true }),
      },
    }
  }

  /** `socket`: a TLS connection whose client has agreed to HTTP/2. */
  serve(socket: Socket): void {
    // Only fronts with TLS load the module, which takes 15 ms and 4 MB.
    const { performServerHandshake } = process.getBuiltinModule('node:http2')
    const session = performServerHandshake(socket, this.#options)
    const streams = new Set<ServerHttp2Stream>()
    this.#open.set(session, streams)
    session.once('close', () => this.#open.delete(session))
    session.on('error', (error: NodeJS.ErrnoException) => {
      const { remoteAddress = 'a client' } = socket
      if (error.code?.startsWith('ERR_HTTP2')) this.#parts.refused(remoteAddress, `HTTP/2: ${error.message}`)
      socket.destroy()
    })
    session.setTimeout(idleMs, () => {
      if (streams.size === 0) session.close()
    })
    session.setLocalWindowSize(sessionWindow)
    this.#limitControl(session, socket)
    session.on('stream', (stream, _headers, _flags, raw: string[]) => {
      // The client has reset it already.
      if (stream.destroyed) return
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
      this.#begin(stream, socket, raw)
    })
  }

  /** Closes connections without requests, or all of them. */
  close(which: 'idle' | 'all'): void {
    for (const [session, streams] of this.#open) {
      if (which === 'all') session.destroy()
      else if (streams.size === 0) session.close()
    }
  }

  #begin(stream: ServerHttp2Stream, socket: Socket, raw: readonly string[]): void {
    const { server, requestMs } = this.#parts
    const head = streamHead(raw, !stream.endAfterHeaders, () => randomBytes(16).toString('base64'))
    if ('bad' in head) {
      const request = new StreamRequest(stream, socket, { method: '', target: '', headers: [] })
      const problem = new RequestProblem(400, 'bad-request', `${head.bad}.`)
      return sendProblem(request.response, problem)
    }
    const request = new StreamRequest(stream, socket, head)
    const { response } = request
    if (request.switches) return void server.emit('upgrade', request, stream, Buffer.alloc(0))
    if (requestMs > 0 && !request.complete) limitTime(request, response, requestMs)
    const waits = request.headers.expect?.toLowerCase() === '100-continue'
    server.emit(waits ? 'checkContinue' : 'request', request, response)
  }

  #limitControl(session: ServerHttp2Session, socket: Socket): void {
    let [left, at] = [controlBurst, performance.now()]
    const count = () => {
      const now = performance.now()
      left = Math.min(controlBurst, left + ((now - at) * controlsPerSecond) / 1000) - 1
      at = now
      if (left >= 0 || session.destroyed) return
      this.#parts.refused(socket.remoteAddress ?? 'a client', 'it sent too many HTTP/2 control frames')
      session.destroy(undefined, calmCode)
      // The session waits for a write in progress, which may never end while the client only sends.
      setTimeout(() => resetConnection(socket), farewellMs).unref()
    }
    session.on('ping', count)
    session.on('remoteSettings', count)
  }
}

/** As the HTTP/1 server does with `requestTimeout`. */
function limitTime(request: StreamRequest, response: StreamResponse, limitMs: number): void {
  const timer = setTimeout(() => {
    if (request.complete || response.headersSent) return
    sendProblem(response, new RequestProblem(408, 'too-slow', 'The request did not arrive in time.'))
  }, limitMs)
  response.once('close', () => clearTimeout(timer))
}
