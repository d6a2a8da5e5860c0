/** Turns errors of PostgreSQL and of its connections into messages that name the store, the cause and the remedy. */
import { StoreError } from '../../lib/errors.ts'

interface Failure {
  message?: string
  /** A SQLSTATE of the server, or a code of Node such as ECONNREFUSED. */
  code?: string
  /** Only errors of the server have one. */
  severity?: string
  /** Of a host with several addresses. */
  errors?: readonly Failure[]
}

/** By SQLSTATE. */
const remedies: Readonly<Record<string, string>> = {
  '28000': 'the server rejects the login. Check the user and pg_hba.conf',
  '28P01': 'the server rejects the login. Check the user and the password',
  '3D000': 'the database does not exist. Create it',
  '42501':
    'the user lacks a privilege. Grant CREATE on the database, or give the schema plimsoll to the user',
  '25006': 'the server is read-only. Name the primary server',
  '53100': "the server's disk is full. Free some space",
  '53300': 'the server has no free connection. Raise max_connections, or use a pooler',
}

/** The server aborted the transaction with an error, and its connection is still usable. */
export function isRejected(error: unknown): boolean {
  const { code, severity } = error as Failure
  return severity !== undefined && code !== undefined && !/^(08|57P0|40003)/.test(code)
}

/** Two transactions blocked each other, or one saw data that the other changed: nothing was written. */
export function isCollision(error: unknown): boolean {
  return ['40001', '40P01'].includes((error as Failure).code ?? '')
}

/** One of the values is to blame, so that other rows may succeed without it. */
export function isWrongValue(error: unknown): boolean {
  return isRejected(error) && /^(22|23|54)/.test((error as Failure).code ?? '')
}

/** `wasWriting`: a write had been sent to the server. Without its reply, whether it has written is unknown. */
export function explainError(error: unknown, store: string, wasWriting: boolean): StoreError {
  if (error instanceof StoreError) return error
  const failure = error as Failure
  const isUnknown = wasWriting && !isRejected(error)
  const why =
    remedies[failure.code ?? ''] ??
    (isRejected(error)
      ? 'the server rejects the statement'
      : isUnknown
        ? 'the connection to the server was lost during a write. Try again'
        : 'the server cannot be reached')
  return new StoreError(`${store}: ${why} (${messageOf(failure)})`, isUnknown ? 'STORE_UNKNOWN' : 'STORE')
}

/** Errors of hosts with several addresses have no message of their own. */
function messageOf({ message, code, errors }: Failure): string {
  return message || errors?.map(messageOf).join('; ') || code || 'no reason given'
}
