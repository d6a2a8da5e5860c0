/** Who waits for the answer of a job, and how it is given to one client. */

import type { ServerResponse } from 'node:http'
import type { Account, WholeAnswer } from '../wire/whole-answer.ts'
import { breakOff, type RequestProblem, sendProblem } from './problem.ts'
import { drained } from './transports/transport.ts'

export interface Recipient {
  /** Calls back when nobody waits any more; perhaps more than once, and also after the answer. */
  onGone(then: () => void): void
  refuse(problem: RequestProblem, account: Account): void
  /** The answer has begun and cannot be completed: whoever has it must see that it is not whole. */
  breakOff(): void
  /** The answer is to tell that the connection closes after it. */
  closeAfterwards(): void
}

/** Who is given the answer of a workload. */
export interface Receiver extends Recipient {
  /** Answers up to this size are delivered when the brain has agreed; longer ones are passed on as they come. */
  readonly wholeBytes: number
  /** An attempt is on its way to a worker. */
  attempted(): void
  deliver(answer: WholeAnswer, account: Account): void
  /** A longer answer begins. What it returns is where its body goes, and waits for the client if that is slow. */
  begin(head: Pick<WholeAnswer, 'status' | 'fields'>, account: Account): Sink
}

export interface Sink {
  write(chunk: Buffer): Promise<void> | undefined
  end(trailers?: Record<string, string>): void
}

/** What of an answer is handed to a connection at a time, where it is long. */
const sliceBytes = 64 * 1024

/** One client, who alone is given the answer. */
export class Client implements Receiver {
  readonly wholeBytes = 256 * 1024
  readonly #response: ServerResponse
  readonly #stallMs: number

  /** A client that takes nothing of its answer for `stallMs` is cut off. */
  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response
    this.#stallMs = stallMs
  }

  /** True: it hung up. */
  get gone(): boolean {
    return this.#response.destroyed
  }

  onGone(then: () => void): void {
    this.#response.on('close', then)
  }

  attempted(): void {}

  refuse(problem: RequestProblem, account: Account): void {
    sendProblem(this.#response, problem, account)
  }

  breakOff(): void {
    breakOff(this.#response)
  }

  closeAfterwards(): void {
    this.#response.shouldKeepAlive = false
  }

  deliver({ body, ...head }: WholeAnswer, account: Account): void {
    if (body.length > this.wholeBytes) return void this.#pass(body, this.begin(head, account))
    this.#response.writeHead(head.status, { ...head.fields, ...account })
    this.#response.end(this.#isHead ? undefined : body)
  }

  begin({ status, fields }: Pick<WholeAnswer, 'status' | 'fields'>, account: Account): Sink {
    const response = this.#response
    const stalled = { ms: this.#stallMs, giveUp: () => breakOff(response) }
    response.writeHead(status, { ...fields, ...account })
    return {
      write: (chunk) =>
        this.#isHead || response.write(chunk) || response.destroyed ? undefined : drained(response, stalled),
      end: (trailers = {}) => {
        response.addTrailers(trailers)
        response.end()
      },
    }
  }

  /** A slow client holds up nobody else, and does not keep the answer for ever. */
  async #pass(body: Buffer, sink: Sink): Promise<void> {
    for (let at = 0; at < body.length && !this.gone; at += sliceBytes) {
      await sink.write(body.subarray(at, at + sliceBytes))
    }
    sink.end()
  }

  get #isHead(): boolean {
    return this.#response.req.method === 'HEAD'
  }
}
