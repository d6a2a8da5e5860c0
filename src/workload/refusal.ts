/** Thrown by a workload that cannot serve a request. The client gets its status and message. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number

  /** `status`: 400 to 499. The message should say what is wrong and what is allowed. */
  constructor(status: number, message: string) {
    super(message)
    if (!(Number.isInteger(status) && status >= 400 && status <= 499)) {
      throw new TypeError(`Refusal: status = ${status}: must be a whole number from 400 to 499`)
    }
    this.status = status
  }
}
