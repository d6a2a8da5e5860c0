/** Offers the requests of Node's server to the direct path, those with a short body when it has arrived. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHead } from '../request/request-head.ts'
import type { DirectExchange } from './direct-request.ts'
import { readShortBody } from './short-body.ts'

export interface DirectFirstParts {
  direct: {
    readonly isOpen: boolean
    readonly longestBody: number
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
  return (request, response) => {
    if (!direct.isOpen || !hasShortBody(request, direct.longestBody)) return offer(request, response)
    readShortBody(request, (body) => {
      // Otherwise its client has disconnected, and nothing will tell.
      if (!response.destroyed) offer(request, response, body)
    })
  }
}

const methods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

function hasShortBody({ method, headers }: IncomingMessage, longest: number): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  if (!methods.has(method!) || coding !== undefined) return false
  return length !== undefined && Number(length) <= longest
}
