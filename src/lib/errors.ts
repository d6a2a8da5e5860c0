/** Errors by what the caller does next; `code` is stable. */

/** For logs: where an error of any kind was thrown. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The base of all errors of this package. */
export abstract class PlimsollError extends Error {
  abstract readonly code: string
  override get name(): string {
    return this.constructor.name
  }
}

/** An option, a file or an argument is wrong. The message names it, its value and what is allowed. */
export class ConfigError extends PlimsollError {
  readonly code = 'CONFIG'
}

/** An option that the command does not have; its help page lists all others. */
export class UnknownOption extends ConfigError {}

/** A policy that the user wrote threw an error or returned something invalid. The message names the policy and what is allowed. */
export class PolicyError extends PlimsollError {
  readonly code = 'POLICY'
}

/** A cluster did not become ready, or its start was aborted. Nothing of it is left. */
export class StartError extends PlimsollError {
  readonly code = 'START'
}

/** A driver broke the brain's contract, for example by using a job id twice. A bug, never a user's fault. */
export class ContractError extends PlimsollError {
  readonly code = 'CONTRACT'
}

/** An invariant was violated in a simulation. */
export class InvariantError extends PlimsollError {
  readonly code = 'INVARIANT'
}

/** A job failed after the head of its answer was sent: the body is cut off with this error. */
export class AnswerBroken extends PlimsollError {
  readonly code = 'ANSWER_BROKEN'
  readonly kind: 'error' | 'limit' | 'cost-limit' | 'crash' | 'killed' | 'unready' | 'cancelled'
  constructor(kind: AnswerBroken['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** The two ends of a channel do not speak the same protocol. The channel must be closed. */
export class ProtocolError extends PlimsollError {
  readonly code = 'PROTOCOL'
}

/** The ledger cannot be opened, read or written. The message names the file, what is wrong and what to do. */
export class LedgerError extends PlimsollError {
  readonly code = 'LEDGER'
}

export type StoreErrorCode = 'STORE' | 'STORE_FENCED' | 'STORE_UNKNOWN' | 'STORE_QUERY'

/** A store of durable jobs cannot be opened, read or written. The message names the store, what is wrong and what to do. */
export class StoreError extends PlimsollError {
  /**
   * `STORE_FENCED`: a newer leader has begun, and this one must not write any more. `STORE_UNKNOWN`: the store failed
   * while it wrote, and whether it has written is unknown; repeat the call. `STORE_QUERY`: the query is wrong. `STORE`:
   * nothing was written.
   */
  readonly code: StoreErrorCode
  constructor(message: string, code: StoreErrorCode = 'STORE') {
    super(message)
    this.code = code
  }
}

/** A worker cannot join, or is rejected. */
export class WireError extends PlimsollError {
  readonly code = 'WIRE'
  /** True: a retry will not help. */
  readonly final: boolean
  constructor(message: string, final: boolean) {
    super(message)
    this.final = final
  }
}

/** A cluster does not answer, or has stopped answering. The message names its address and says what to do. */
export class UnreachableError extends PlimsollError {
  readonly code = 'UNREACHABLE'
}
