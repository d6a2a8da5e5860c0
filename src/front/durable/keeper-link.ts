/** The way from a front to the keeper. */

import { type ClientRequest, request as call, type RequestOptions } from 'node:http'
import type { KeeperAddress } from '../../wire/kept.ts'
import { secureSocket } from '../../wire/secure.ts'
import { bearer } from '../../wire/token.ts'
import { RequestProblem, retryAfter } from '../problem.ts'
import type { WaitingClients } from './waiting-clients.ts'

export interface KeeperLink {
  /** Rejects with a problem if there is no keeper. */
  reach(): Promise<KeeperAddress>
  waiting: WaitingClients
}

/** A request to the keeper, on a connection of its own. */
export function callKeeper(
  { port, token, far }: KeeperAddress,
  { headers, ...options }: Pick<RequestOptions, 'method' | 'path'> & { headers: Record<string, string> },
): ClientRequest {
  const sent = { ...options, port, headers: { ...headers, authorization: bearer(token) } }
  if (!far) return call({ ...sent, host: '127.0.0.1', agent: false })
  const { host, token: secret } = far
  const createConnection = () => secureSocket({ host, port }, { identity: 'front', token: secret })
  return call({ ...sent, host, createConnection })
}

/** How long a keeper is away, until one was. */
export const guessedAwayMs = 2_000

export function keeperAway(retryAfterMs: number): RequestProblem {
  return new RequestProblem(
    503,
    'keeper-away',
    'The store of jobs cannot be reached at the moment. Try again; with an Idempotency-Key the request cannot run twice.',
    { headers: retryAfter(retryAfterMs) },
  )
}

/** The front ends before it knows whether the request is stored. */
export function endingUnstored(): RequestProblem {
  return new RequestProblem(
    503,
    'stopping',
    'The cluster is stopping. Try again; with an Idempotency-Key the request cannot run twice.',
    { headers: { ...retryAfter(guessedStartMs), connection: 'close' } },
  )
}

const guessedStartMs = 5_000
