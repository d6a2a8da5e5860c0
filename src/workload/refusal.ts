/** What a workload throws when a request cannot be served as it is: the client gets this status and message. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number

  /** `status` from 400 to 499; the message says what was wrong and what is allowed. */
  constructor(status: number, message: string) {
    super(message)
    if (!(Number.isInteger(status) && status >= 400 && status <= 499)) {
      throw new TypeError(`Refusal: status = ${status}: must be a whole number from 400 to 499`)
    }
    this.status = status
  }
}
