/** How a virtual front reaches a worker: attempts are sent over HTTP on a connection of the virtual network. */

import { Agent, type IncomingMessage, request } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { OwnedUpstream, upstreamAt } from '../../src/front/transports/upstream.ts'
import type { AttemptToken } from '../../src/model/attempt.ts'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess } from './time.ts'

export interface UpstreamParts {
  process: VirtualProcess
  network: VirtualNetwork
  /** An attempt is sent to a port. May throw, as if it could not be sent. */
  sending(token: AttemptToken, port: number): void
}

export function virtualUpstreams({ process, network, sending }: UpstreamParts): typeof upstreamAt {
  return (id, address): OwnedUpstream => {
    const open = new Set<Call>()
    const agent = new Agent()
    return {
      ...{ id, address, agent },
      dispatcher: {
        dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
          const { body } = options
          if (Buffer.isBuffer(body)) sending(tokenOf(body), address.port)
          const connecting = network.connect(process, `:${address.port}`)
          const call = new Call(options, handler, connecting, () => open.delete(call))
          open.add(call)
          return true
        },
      } as Dispatcher,
      close() {
        for (const call of open) call.controller.abort(new Error('the worker is gone'))
      },
    }
  }
}

/** The head of an attempt begins with its token. */
function tokenOf(head: Buffer): AttemptToken {
  const [, epoch, job, attempt] = /"epoch":(\d+),"job":"([^"]+)","attempt":(\d+)/.exec(
    head.toString('latin1'),
  )!
  return { epoch: Number(epoch), job: job!, attempt: Number(attempt) }
}

/** One attempt on a connection of its own, as undici reports it. */
class Call {
  readonly controller: Dispatcher.DispatchController
  readonly #handler: Dispatcher.DispatchHandler
  readonly #closed: () => void
  #response: IncomingMessage | undefined
  #over = false

  constructor(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    connecting: Promise<Duplex>,
    closed: () => void,
  ) {
    this.#handler = handler
    this.#closed = closed
    let stop: (() => void) | undefined
    this.controller = {
      abort: (reason: Error) => {
        this.#failed(reason)
        stop?.()
      },
      pause: () => void this.#response?.pause(),
      resume: () => void this.#response?.resume(),
    } as Dispatcher.DispatchController
    handler.onRequestStart?.(this.controller, {})
    connecting.then(
      (socket) => {
        if (this.#over) return void socket.destroy()
        stop = this.#send(socket, options)
      },
      (error) => this.#failed(error),
    )
  }

  #send(socket: Duplex, { method, path, headers, body }: Dispatcher.DispatchOptions): () => void {
    const call = request({
      ...{ method, path, createConnection: () => socket },
      headers: headers as Record<string, string>,
    })
    call.on('error', (error) => this.#failed(error))
    call.on('response', (response) => this.#receive(response))
    if (Buffer.isBuffer(body)) call.end(body)
    else (body as Readable).on('error', (error) => call.destroy(error)).pipe(call)
    return () => call.destroy()
  }

  #receive(response: IncomingMessage): void {
    const { controller } = this
    this.#response = response
    this.#handler.onResponseStart?.(controller, response.statusCode!, response.headers, '')
    response.on('data', (chunk: Buffer) => {
      if (!this.#over) this.#handler.onResponseData?.(controller, chunk)
    })
    response.on('end', () => {
      if (this.#over) return
      this.#end()
      this.#handler.onResponseEnd?.(controller, response.trailers)
    })
    response.on('error', (error) => this.#failed(error))
    response.on('close', () => this.#failed(Object.assign(new Error('reset'), { code: 'ECONNRESET' })))
  }

  #failed(error: Error): void {
    if (this.#over) return
    this.#end()
    this.#handler.onResponseError?.(this.controller, error)
  }

  #end(): void {
    this.#over = true
    this.#closed()
  }
}
