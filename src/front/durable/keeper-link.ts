/** The way from a front to the keeper. */

import type { KeeperAddress } from '../../wire/kept.ts'
import { RequestProblem, retryAfter } from '../problem.ts'
import type { WaitingClients } from './waiting-clients.ts'

export interface KeeperLink {
  /** Rejects with a problem if there is no keeper. */
  reach(): Promise<KeeperAddress>
  waiting: WaitingClients
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

/** For a front that cannot reach the keeper of its cluster. */
export function notKeptHere(): RequestProblem {
  return new RequestProblem(
    501,
    'not-kept-here',
    'This front cannot keep requests: send it to a front on the machine of the cluster, or leave out Idempotency-Key and Plimsoll-Webhook.',
  )
}
