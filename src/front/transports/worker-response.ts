/** A worker's response to an attempt, as it arrives over either HTTP client. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

export interface ResponseEvents {
  data(chunk: Buffer): void
  end(): void
  /** The response breaks off. */
  failed(error: Error): void
}

export interface WorkerResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Complete when the response has ended. */
  readonly trailers: NodeJS.Dict<string | string[]>
  /** Passes on what arrives. Must be called once, at the latest in a microtask after the response has begun. */
  read(on: ResponseEvents): void
  pause(): void
  resume(): void
}

/** The whole body. */
export function bodyOf(response: WorkerResponse): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    response.read({
      data: (chunk) => void chunks.push(chunk),
      end: () => resolve(Buffer.concat(chunks)),
      failed: reject,
    })
  })
}

/** The response of Node's HTTP client. */
export class Received implements WorkerResponse {
  readonly #response: IncomingMessage
  readonly status: number
  readonly headers: IncomingHttpHeaders

  constructor(response: IncomingMessage) {
    this.#response = response
    this.status = response.statusCode ?? 0
    this.headers = response.headers
  }

  get trailers(): NodeJS.Dict<string> {
    return this.#response.trailers
  }

  read({ data, end, failed }: ResponseEvents): void {
    this.#response.on('data', data).on('end', end).on('error', failed)
    this.#response.on('close', () => failed(new Error('the answer broke off')))
  }

  pause(): void {
    this.#response.pause()
  }

  resume(): void {
    this.#response.resume()
  }
}
