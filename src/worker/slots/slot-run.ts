/** One job in a slot, as the supervisor sees it: its answer, its cost, and the means to pause or end it. */
import type { Duplex, Readable } from 'node:stream'
import type { Measure, WorkDone } from '../../model/cost.ts'
import type { HttpHead, HttpRequest } from '../../wire/messages.ts'
import type { AnswerHead } from './frames.ts'

export interface SlotJobRequest {
  job: string
  attempt: number
  workload: string
  params: unknown
  body?: Readable
  /** A client's own request, for a program to answer. */
  http?: HttpRequest
  /** What followed its body, name and value in turn; known when the body has ended. */
  trailers?(): string[]
  /** True: what was counted is wanted while the job runs, not only at its end. */
  tallies?: boolean
}

export type SlotAnswer =
  | ({ kind: 'result'; body: Readable } & AnswerHead)
  /** Of a program, passed on as it comes. The trailers, name and value in turn, are known when the body has ended. */
  | { kind: 'http'; head: HttpHead; body: Readable; trailers(): string[] }
  /** A program speaks another protocol from here on. The job ends with the socket. */
  | { kind: 'upgraded'; head: HttpHead; socket: Duplex }
  | { kind: 'error'; message: string; status?: number }
  | { kind: 'limit'; message: string }
  | { kind: 'crash'; message: string }
  /** The slot was ended by SIGKILL, and not by us. */
  | { kind: 'killed'; message: string }
  | { kind: 'unready'; message: string }
  | { kind: 'cancelled' }

/** How a job can end without a result. */
export type FailedAnswer = Exclude<SlotAnswer, { kind: 'result' | 'http' | 'upgraded' }>

/** Unmetered, or not known in time: without work. Of a job that crashed or was killed, what was last known. */
export interface SlotUsage extends Partial<WorkDone> {
  /** Of a job that shares its program with others, or whose program runs elsewhere, the time that it took. */
  cpuMs: number
  /** What `work` is. Undefined: what the worker's meter says. */
  measure?: Measure
  /** From `start` to the end, pauses included. */
  wallMs: number
  peakMemoryMb: number
}

export interface SlotRun {
  /** Never rejects. A result's body may still break off, with an AnswerBroken. */
  readonly answer: Promise<SlotAnswer>
  /** When all is over and the slot is free or gone; never rejects. */
  readonly ended: Promise<SlotUsage>
  /** Idempotent; without effect while not interruptible, so ask again on `onInterruptible`. */
  pause(): void
  resume(): void
  readonly paused: boolean
  /** False inside `ctx.uninterrupted`. */
  readonly interruptible: boolean
  onInterruptible?: () => void
  /** Ends the job with its slot. Idempotent. */
  cancel(): void
  /** CPU time spent on this job so far, by all threads. */
  cpuMs(): number
  /** What the meter last said, and when, in milliseconds since 1970. */
  work(): (WorkDone & { at: number }) | undefined
  /** The meter has said more. */
  onWork?: () => void
  readonly progress: number | undefined
  readonly pid: number | undefined
}
