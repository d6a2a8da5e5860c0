/** One job in a pool, as the supervisor sees it: its answer, its cost, and the means to pause or end it. */
import type { Duplex, Readable } from 'node:stream'
import type { Measure, WorkDone } from '../model/cost.ts'
import type { HttpHead, HttpRequest } from '../wire/messages.ts'
import type { LongBody } from './program/long-body.ts'
import type { AnswerHead } from './slots/frames.ts'

export interface JobRequest {
  job: string
  attempt: number
  workload: string
  params: unknown
  body?: Readable
  /** The client's request, for a program or an upstream. */
  http?: HttpRequest
  /** Alternating names and values; available when the body has ended. */
  trailers?(): string[]
  /** Whether tallies are wanted while the job runs, not only at its end. */
  tallies?: boolean
  /** Whether the job may run again if it failed halfway. */
  repeatable?: boolean
  /** The front can receive the body of a long answer on a connection of its own. */
  channel?: boolean
  /** CPU time that the job is expected to need from now on. Undefined: unknown. */
  remainingMs?(): number
}

export type JobAnswer =
  | ({ kind: 'result'; body: Readable } & AnswerHead)
  /**
   * From a program, as it arrives. Trailers are alternating names and values, available when the body has ended. If there
   * is a `long` body, it contains the bytes, and `body` only ends or fails.
   */
  | { kind: 'http'; head: HttpHead; body: Readable; long?: LongBody | undefined; trailers(): string[] }
  /** The program switched protocols. The job ends when the socket closes. */
  | { kind: 'upgraded'; head: HttpHead; socket: Duplex }
  /** With a status from 400 to 499 the message is for the client, otherwise for the operator. */
  | { kind: 'error'; message: string; status?: number; stack?: string }
  | { kind: 'limit'; message: string; status?: number }
  /** It used more CPU time than its client allows. */
  | { kind: 'cost-limit'; message: string; status?: number }
  | { kind: 'crash'; message: string }
  /** Another process ended the slot by SIGKILL. */
  | { kind: 'killed'; message: string }
  | { kind: 'unready'; message: string }
  | { kind: 'cancelled' }

/** All ways to end without a result. */
export type JobFailure = Exclude<JobAnswer, { kind: 'result' | 'http' | 'upgraded' }>

/** Without work if the job is unmetered. For a job that crashed or was killed, the last known amounts. */
export interface JobUsage extends Partial<WorkDone> {
  /** Wall time in service instead, if the job shares its program with others or runs on an upstream. */
  cpuMs: number
  /** How `work` was measured. Undefined: by the worker's meter. */
  measure?: Measure
  /** From `start` to the end, including pauses. */
  wallMs: number
  peakMemoryMb: number
  /** Time that it was ready to run and waited for a core. Undefined: not known. */
  queuedMs?: number
}

/** Which limit was exceeded (`limit`: one of memory or time), and the status of the answer. Default: `limit`, 500. */
export interface Exceeded {
  kind?: 'limit' | 'cost-limit'
  status?: number
}

export interface JobRun {
  /** Never rejects. The body of a result may still fail with AnswerBroken. */
  readonly answer: Promise<JobAnswer>
  /** Resolves when the slot is free or has ended; never rejects. */
  readonly ended: Promise<JobUsage>
  /** Idempotent. Has no effect while not interruptible; call it again on `onInterruptible`. */
  pause(): void
  resume(): void
  readonly paused: boolean
  /** False inside `ctx.uninterrupted`. */
  readonly interruptible: boolean
  onInterruptible?: () => void
  /** Ends the job together with its slot. Idempotent. */
  cancel(): void
  /** Like `cancel`, because the job exceeded a limit. The message is for the client. */
  exceed(message: string, how?: Exceeded): void
  /** CPU time spent on this job so far, by all threads. */
  cpuMs(): number
  /** Time that it was ready to run and waited for a core, as of the last call of `cpuMs`. Undefined: not known. */
  queuedMs?(): number
  /** Time that its threads spent on a core or waiting for one, so far. Undefined: not known, or it has not begun. */
  demandMs?(): number | undefined
  /** True: a thread of it, or of a process that it started, could run now, or somebody else has stopped its process. */
  isRunnable?(): boolean
  /** Whether data of its answer, or of its WebSocket, has moved since the last call. */
  moved(): boolean
  /** The meter's last report, and its time in milliseconds since 1970. */
  work(): (WorkDone & { at: number }) | undefined
  /** Called after each report of the meter. */
  onWork?: () => void
  readonly progress: number | undefined
  readonly pid: number | undefined
}
