/** Clients in large numbers, which wait for answers or do not read them. */

import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Crowd {
  /** Clients whose request is open. */
  readonly open: number
  /** Resolves when this many have sent their requests, or after a while. */
  grow(size: number): Promise<void>
  leave(): void
}

/** One client may have 20,000 requests. */
const requestsOfAddress = 15_000
const limitMs = 120_000
/** A front takes 128. */
const streamsOfSession = 125
/** Connections that are opened and not accepted yet. */
const mostOpening = 100

const addressOf = (number: number) => `127.0.1.${1 + Math.floor(number / requestsOfAddress)}`

/** Streams of HTTP/2 whose requests are not answered. */
export class StreamsCrowd implements Crowd {
  readonly #port: number
  readonly #path: string
  readonly #sessions: ClientHttp2Session[] = []
  readonly #streams = new Set<ClientHttp2Stream>()
  #made = 0

  constructor(port: number, path: string) {
    this.#port = port
    this.#path = path
  }

  get open(): number {
    return this.#streams.size
  }

  async grow(size: number): Promise<void> {
    const ends = performance.now() + limitMs
    while (this.#made < size && performance.now() < ends) {
      const session = await this.#connect(addressOf(this.#made))
      for (let i = 0; i < streamsOfSession && this.#made < size; i++, this.#made++) this.#send(session)
      // The front has read the requests before this.
      await new Promise((resolve) => session.ping(resolve))
    }
  }

  leave(): void {
    for (const session of this.#sessions) session.destroy()
  }

  async #connect(localAddress: string): Promise<ClientHttp2Session> {
    const raw = connect({ port: this.#port, host: '127.0.0.1', localAddress })
    const session = connectHttp2('https://localhost', {
      createConnection: () =>
        connectTls({
          socket: raw,
          servername: 'localhost',
          rejectUnauthorized: false,
          ALPNProtocols: ['h2'],
        }),
    })
    session.on('error', () => {})
    this.#sessions.push(session)
    await once(session, 'remoteSettings')
    return session
  }

  #send(session: ClientHttp2Session): void {
    const stream = session.request({ ':path': this.#path })
    this.#streams.add(stream)
    const over = () => this.#streams.delete(stream)
    stream.on('response', over).on('error', over).on('close', over)
  }
}

/** Connections with one request each, whose answers stay in the kernel and at the front. */
export class ReadersCrowd implements Crowd {
  readonly #port: number
  readonly #path: string
  readonly #sockets = new Set<Socket>()
  #made = 0

  constructor(port: number, path: string) {
    this.#port = port
    this.#path = path
  }

  get open(): number {
    return this.#sockets.size
  }

  async grow(size: number): Promise<void> {
    const ends = performance.now() + limitMs
    const lane = async () => {
      while (this.#made < size && performance.now() < ends) await this.#add(addressOf(this.#made++))
    }
    await Promise.all(Array.from({ length: mostOpening }, lane))
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #add(localAddress: string): Promise<void> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress })
    this.#sockets.add(socket)
    socket.on('error', () => {}).pause()
    return new Promise((resolve) => {
      socket.on('close', () => {
        this.#sockets.delete(socket)
        resolve()
      })
      socket.on('connect', () =>
        socket.write(`GET ${this.#path} HTTP/1.1\r\nHost: crowd\r\n\r\n`, () => resolve()),
      )
    })
  }
}

/** Kept jobs that wait: their clients have been answered with 202. */
export class KeptCrowd implements Crowd {
  readonly #url: string
  readonly #path: string
  #made = 0
  open = 0

  constructor(url: string, path: string) {
    this.#url = url
    this.#path = path
  }

  async grow(size: number): Promise<void> {
    const ends = performance.now() + limitMs
    const lane = async () => {
      while (this.#made < size && performance.now() < ends) {
        this.#made++
        const init = { method: 'POST', headers: { prefer: 'respond-async' } }
        const answer = await fetch(this.#url + this.#path, init).catch(() => undefined)
        await answer?.body?.cancel()
        if (answer?.status === 202) this.open++
      }
    }
    await Promise.all(Array.from({ length: mostOpening }, lane))
  }

  /** They are kept with their cluster. */
  leave(): void {}
}
