/** Receives the answer of a job: one client, or all clients that share the job. */

import type { Account, WholeAnswer } from '../wire/whole-answer.ts'
import type { RequestProblem } from './problem.ts'

export interface Receiver {
  /** Whether an answer that its workload streams can begin now; otherwise it is held like any other. */
  readonly takesStreams: boolean
  /**
   * Whether this many bytes of an answer may be held until it is complete, so that another attempt can replace it if its
   * worker fails. Otherwise the answer is streamed.
   */
  mayHold(bytes: number): boolean
  /** Calls back when no client waits any longer; possibly more than once, and also after the answer. */
  onGone(then: () => void): void
  /** An attempt has been sent to a worker. */
  attempted(): void
  /** The job has another id from now on. */
  renamed?(job: string): void
  deliver(answer: WholeAnswer, account: Account): void
  /** Starts to stream an answer. Its body goes to the sink. */
  begin(head: AnswerHead, account: Account): Sink
  /** Answers with a problem; breaks the answer off if it has begun. */
  refuse(problem: RequestProblem, account: Account): void
  /** Ends an answer that has begun and cannot be completed, so that the client notices. */
  breakOff(): void
  /** Makes the answer announce that the connection closes after it. */
  closeAfterwards(): void
}

/** Answers up to this size are always held until they are complete. */
export const wholeBytes = 256 * 1024

export type AnswerHead = Pick<WholeAnswer, 'status' | 'fields'>

/** The body of an answer that is streamed. */
export interface Sink {
  /** A promise asks to wait: the client is slow. */
  write(chunk: Buffer): Promise<void> | undefined
  end(trailers?: Record<string, string> | [name: string, value: string][]): void
}

/** The body of an answer whose chunks are in memory that is used again. */
export interface LongSink {
  /** The chunk may be overwritten once `taken` is called. It is not called if the client has disconnected. */
  pass(chunk: Buffer, taken: () => void): void
  /** The client is slow: from now on chunks are copied, and taken unless there is no room to keep them. */
  keep(): void
  /** All chunks were passed. */
  end(): void
  breakOff(): void
}
