/**
 * Sends an attempt by undici's `dispatch`, which calls a handler: its other interfaces, and Node's client, create several
 * streams and promises for each request. It cannot send trailers.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { attemptPath, headers as names } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import type { Carried } from './transport.ts'
import type { ResponseEvents, WorkerResponse } from './worker-response.ts'

/** One error for all: creating its stack trace would take longer than the rest of `done`. */
const over = new Error('the attempt has ended')

export interface AttemptContent {
  /** Length of the attempt's head, with which the content begins. */
  headBytes: number
  content: Buffer | Readable
}

/** `response` rejects if the worker does not answer. */
export interface DispatchedAttempt {
  response: Promise<WorkerResponse>
  /** Aborts the request unless it has ended. */
  done(): void
}

export function dispatchAttempt(
  { upstream, token, signal, connectMs }: Pick<Carried, 'upstream' | 'token' | 'signal' | 'connectMs'>,
  { headBytes, content }: AttemptContent,
): DispatchedAttempt {
  const call = new DispatchedCall()
  if (connectMs !== undefined) call.limitConnecting(connectMs)
  if (signal.aborted) call.abort(signal.reason)
  else signal.addEventListener('abort', () => call.abort(signal.reason), { once: true })
  upstream.dispatcher.dispatch(
    {
      method: 'POST',
      path: attemptPath,
      headers: {
        authorization: bearer(token),
        'content-type': 'application/octet-stream',
        [names.headBytes]: `${headBytes}`,
      },
      body: content,
    },
    call,
  )
  return { response: call.begun.promise, done: () => call.abort(over) }
}

class DispatchedCall implements Dispatcher.DispatchHandler, WorkerResponse {
  readonly begun = Promise.withResolvers<WorkerResponse>()
  #controller: Dispatcher.DispatchController | undefined
  #on: ResponseEvents | undefined
  /** Arrived before it is read, or while it is paused. */
  readonly #waiting: Buffer[] = []
  #paused = false
  #aborted: Error | undefined
  #connecting: NodeJS.Timeout | undefined
  #end: 'complete' | Error | undefined
  status = 0
  headers: IncomingHttpHeaders = {}
  trailers: NodeJS.Dict<string | string[]> = {}

  /** Fails if no connection is there in time. */
  limitConnecting(ms: number): void {
    this.#connecting = setTimeout(() => {
      const error = Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' })
      this.abort(error)
      this.begun.reject(error)
      this.#ended(error)
    }, ms)
  }

  read(on: ResponseEvents): void {
    this.#on = on
    this.#passOn()
  }

  pause(): void {
    this.#paused = true
    this.#controller?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#passOn()
    if (!this.#paused) this.#controller?.resume()
  }

  /** Does nothing if the response has ended. */
  abort(reason: Error): void {
    if (this.#end || this.#aborted) return
    this.#aborted = reason
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    clearTimeout(this.#connecting)
    if (this.#aborted) controller.abort(this.#aborted)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.status = status
    this.headers = headers
    if (status >= 200) this.begun.resolve(this)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Undici passes on an empty chunk when it resumes.
    if (chunk.length === 0) return
    this.#waiting.push(chunk)
    this.#passOn()
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.trailers = trailers
    this.#ended('complete')
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.begun.reject(error)
    this.#ended(error)
  }

  #ended(end: 'complete' | Error): void {
    clearTimeout(this.#connecting)
    this.#end ??= end
    this.#passOn()
  }

  #passOn(): void {
    while (this.#on && !this.#paused && this.#waiting.length > 0) this.#on.data(this.#waiting.shift()!)
    if (!this.#on || !this.#end || this.#waiting.length > 0) return
    const on = this.#on
    this.#on = undefined
    if (this.#end === 'complete') on.end()
    else on.failed(this.#end)
  }
}
