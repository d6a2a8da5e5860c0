/** Offers the requests of Node's server to the direct path, those with a short body when it has arrived with the head. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { shortBytes } from '../request/params.ts'
import type { RequestHead } from '../request/request-head.ts'
import type { DirectExchange } from './direct-request.ts'

export interface DirectFirstParts {
  direct: {
    readonly isOpen: boolean
    take(request: RequestHead, exchange: DirectExchange): boolean
  }
  exchangeOf(request: IncomingMessage, response: ServerResponse): DirectExchange
  general(request: IncomingMessage, response: ServerResponse): void
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

export function directFirst({ direct, exchangeOf, general }: DirectFirstParts): Listener {
  const offer = (request: IncomingMessage, response: ServerResponse, wholeBody?: Buffer) => {
    const head: RequestHead = wholeBody ? Object.assign(request, { wholeBody }) : request
    if (!direct.isOpen || !direct.take(head, exchangeOf(request, response))) general(request, response)
  }
  const offerWhole: Listener = (request, response) => {
    // Otherwise its client has disconnected, and nothing will tell.
    if (!response.destroyed) offer(request, response, wholeBodyOf(request))
  }
  return (request, response) => {
    // By then Node's parser has passed on what has arrived with the head.
    if (direct.isOpen && hasShortBody(request)) setImmediate(offerWhole, request, response)
    else offer(request, response)
  }
}

function hasShortBody({ method, httpVersionMajor, headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (method !== 'POST' || httpVersionMajor !== 1 || coding !== undefined) return false
  return length !== undefined && Number(length) <= shortBytes
}

/** It stays in the request, for the general path. Undefined: it has not arrived. */
function wholeBodyOf(request: IncomingMessage): Buffer | undefined {
  const length = Number(request.headers['content-length'])
  if (!request.complete || request.readableLength !== length) return undefined
  if (length === 0) return Buffer.alloc(0)
  const body = request.read(length) as Buffer
  request.unshift(body)
  return body
}
