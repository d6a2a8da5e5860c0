/** Errors by what the caller does next; `code` is stable. */

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

/** A driver broke the brain's contract, for example by using a job id twice. A bug, never a user's fault. */
export class ContractError extends PlimsollError {
  readonly code = 'CONTRACT'
}

/** A promise of the system did not hold in a simulation. */
export class InvariantError extends PlimsollError {
  readonly code = 'INVARIANT'
}

/** A job failed after the head of its answer was given away: the body breaks off with this. */
export class AnswerBroken extends PlimsollError {
  readonly code = 'ANSWER_BROKEN'
  readonly kind: 'error' | 'limit' | 'crash' | 'killed' | 'unready' | 'cancelled'
  constructor(kind: AnswerBroken['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** The two ends of a channel do not speak the same protocol. The channel is of no more use. */
export class ProtocolError extends PlimsollError {
  readonly code = 'PROTOCOL'
}

/** The ledger cannot be opened, read or written. The message names the file, what is wrong and what to do. */
export class LedgerError extends PlimsollError {
  readonly code = 'LEDGER'
}

/** A worker cannot join, or may not. */
export class WireError extends PlimsollError {
  readonly code = 'WIRE'
  /** True: trying again will not help. */
  readonly final: boolean
  constructor(message: string, final: boolean) {
    super(message)
    this.final = final
  }
}

/** A cluster does not answer at its address, or stopped to. The message says where and what to do. */
export class UnreachableError extends PlimsollError {
  readonly code = 'UNREACHABLE'
}
