/** Faults that the stand puts between the SDK and moto. */

export interface Fault {
  /** Such as `RunInstances`. */
  action: string
  /** How many calls it affects. */
  times: number
  /** Only calls with these parameters. Default: all. */
  when?(form: URLSearchParams): boolean
  /** The call fails with this code and has no effect. */
  code?: string
  /** The call takes effect, and its answer is lost. */
  losesAnswer?: boolean
  /** The call takes effect, and its answer comes this much later. */
  answerAfterMs?: number
  /** Called when the call comes. */
  seen?(): void
}

const messages: Readonly<Record<string, string>> = {
  RequestLimitExceeded: 'Request limit exceeded.',
  InsufficientInstanceCapacity:
    'We currently do not have sufficient capacity in the Availability Zone you requested.',
  UnauthorizedOperation: 'You are not authorized to perform this operation.',
  ExpiredToken: 'The security token included in the request is expired.',
}

export class Faults {
  readonly #faults: Fault[] = []

  add(fault: Fault): void {
    this.#faults.push({ ...fault })
  }

  /**
   * The fault of this call, if there is one. `isRepeated`: the call has succeeded before, with the same client token, so it
   * needs no capacity.
   */
  take(action: string, form: URLSearchParams, isRepeated: boolean): Fault | undefined {
    const canFail = ({ code }: Fault) => !isRepeated || code !== 'InsufficientInstanceCapacity'
    const fault = this.#faults.find(
      (each) => each.action === action && canFail(each) && (each.when?.(form) ?? true),
    )
    if (fault && --fault.times <= 0) this.#faults.splice(this.#faults.indexOf(fault), 1)
    fault?.seen?.()
    return fault
  }
}

/** Status and body of an error of EC2. */
export function errorOf(code: string): { status: number; body: string } {
  const status = code === 'RequestLimitExceeded' ? 503 : code === 'UnauthorizedOperation' ? 403 : 400
  const message = messages[code] ?? code
  const errors = `<Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors>`
  return { status, body: `<?xml version="1.0"?><Response>${errors}<RequestID>0</RequestID></Response>` }
}
