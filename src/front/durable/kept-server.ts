/** Where the keeper sends requests that it has stored: a port of a front on loopback, which only the keeper may use. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import {
  keptAddressField,
  keptClientField,
  keptProtocolField,
  keptRefusalField,
  keptTokenField,
} from '../../wire/kept.ts'
import { authorizer } from '../../wire/token.ts'
import type { Account } from '../../wire/whole-answer.ts'
import type { AnswerStore } from '../answer-buffer.ts'
import { Client, type ClientLimits } from '../client.ts'
import { RequestProblem, sendProblem } from '../problem.ts'
import { setPeer } from '../tls/below.ts'

export interface KeptServerParts {
  token: string
  limits: ClientLimits & { headerBytes: number }
  answers: AnswerStore
  serve(request: IncomingMessage, client: Client): void
}

/** The stored fields come with some of the keeper's own. */
const ownFieldsBytes = 4 * 1024

export function keptServer({ token, limits, answers, serve }: KeptServerParts): Server {
  const isAuthorized = authorizer(token)
  const maxHeaderSize = limits.headerBytes + ownFieldsBytes
  const options = { maxHeaderSize, requestTimeout: 0, highWaterMark: 256 * 1024 }
  return createServer(options, (request, response) => {
    if (!isAuthorized(String(request.headers[keptTokenField] ?? '')))
      return sendProblem(
        response,
        new RequestProblem(403, 'forbidden', 'Only for the keeper of the cluster.'),
      )
    const { headers, socket } = request
    // The client's own connection, as programs and rules about addresses know it.
    setPeer(socket, { remoteAddress: String(headers[keptAddressField] ?? ''), remotePort: 0 })
    if (headers[keptProtocolField] === 'https') Object.assign(socket, { encrypted: true })
    hideOwnFields(request)
    serve(request, new KeptClient(response, limits, answers))
  })
}

/** The client under whose name a request was accepted. */
export function keptClientOf(request: object): string {
  return named.get(request) ?? ''
}

const named = new WeakMap<object, string>()

/** Workloads and programs see the request as its client sent it. */
function hideOwnFields(request: IncomingMessage): void {
  const { headers, rawHeaders } = request
  named.set(request, String(headers[keptClientField] ?? ''))
  for (const name of Object.keys(headers)) if (name.startsWith('plimsoll-kept-')) delete headers[name]
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2)
    if (rawHeaders[i]!.toLowerCase().startsWith('plimsoll-kept-')) rawHeaders.splice(i, 2)
}

/** Tells the keeper which answers are refusals of the cluster. */
class KeptClient extends Client {
  override refuse(problem: RequestProblem, account: Account = {}): void {
    super.refuse(problem, { ...account, [keptRefusalField]: problem.code })
  }
}
