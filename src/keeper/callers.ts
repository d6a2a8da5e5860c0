/** Whose jobs a request is about: those of its client, or of all clients if it proves to come from an operator. */

import type { IncomingMessage } from 'node:http'
import type { StoredJob } from '../store/store.ts'
import { keptClientField, keptOperatorField, operatorField } from '../wire/kept.ts'
import { isAuthorized } from '../wire/token.ts'
import { KeeperProblem } from './responses.ts'

/** `client`: undefined for an operator. */
export interface Caller {
  client: string | undefined
}

/** Throws a 403 if the operator token is wrong. */
export function callerOf({ headers }: IncomingMessage, operatorToken: string): Caller {
  const proof = headers[keptOperatorField]
  if (proof === undefined) return { client: String(headers[keptClientField] ?? '') }
  if (isAuthorized(String(proof), operatorToken)) return { client: undefined }
  throw new KeeperProblem(
    403,
    'forbidden',
    `${operatorField}: must be Bearer and the operator token of the cluster, or be left out.`,
  )
}

export function maySee({ client }: Caller, job: StoredJob): boolean {
  return client === undefined || job.client === client
}
