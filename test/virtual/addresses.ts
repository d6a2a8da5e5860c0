/** Judges where attempts go: to the process that joined last under the id of their worker when the brain sent them. */

import type { AttemptToken } from '../../src/model/attempt.ts'

export class Addresses {
  readonly #fail: (why: string) => void
  readonly #ports = new Map<string, number>()
  readonly #wanted = new Map<string, { worker: string; port: number | undefined }>()

  constructor(fail: (why: string) => void) {
    this.#fail = fail
  }

  /** The brain lets a process with this port join as this worker. */
  joined(worker: string, port: number): void {
    this.#ports.set(worker, port)
  }

  /** The brain sends an attempt to a worker. */
  ordered(token: AttemptToken, worker: string): void {
    this.#wanted.set(keyOf(token), { worker, port: this.#ports.get(worker) })
  }

  /** A front sends an attempt to a port. */
  sent(token: AttemptToken, port: number): void {
    const { worker, port: wanted } = this.#wanted.get(keyOf(token))!
    if (port !== wanted)
      this.#fail(`job ${token.job} was sent to port ${port}, but worker ${worker} is at port ${wanted}`)
  }
}

function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch} ${job} ${attempt}`
}
