/** Runs one job on a program or upstream: sends its request, streams the answer, and determines its cost. */
import type { Duplex } from 'node:stream'
import { AnswerBroken } from '../../lib/errors.ts'
import { type HttpHead, headers as names } from '../../wire/messages.ts'
import { valuesOf } from '../../wire/raw-headers.ts'
import type { Exceeded, JobAnswer, JobFailure, JobRequest, JobRun, JobUsage } from '../job-run.ts'
import { describeCallError, duration } from './error-messages.ts'
import { type AnswerStream, HttpCall } from './http-call.ts'
import { JobMeter } from './job-meter.ts'
import type { LongBody } from './long-body.ts'
import type { RequestTarget } from './request-target.ts'
import { SharedDemand } from './shared-demand.ts'

export interface ProgramRunHost {
  /** Each job has a program to itself, and can be paused with it. */
  readonly exclusive: boolean
  /** Maximum time that a job waits for a healthy target. */
  readonly waitMs: number
  /** Why no target is available. */
  unavailableReason(): string
  /** Requests a target, which is passed to `use` when the job is not paused. Idempotent. */
  request(run: ProgramRun): void
  /** The target's job is paused or resumed. */
  pause(target: RequestTarget): void
  resume(target: RequestTarget): void
  /** The job no longer waits for a target. */
  withdraw(run: ProgramRun): void
  /** No connection was established: the job has not started, and requests another target. */
  unreachable(run: ProgramRun, target: RequestTarget): void
  /** The job has ended; its target is free. */
  ended(run: ProgramRun, target: RequestTarget): void
  /** Ends the target, because its job cannot be ended otherwise. */
  discard(target: RequestTarget): Promise<unknown>
}

/** A program may end just when it receives a job. */
const maxTries = 3

export class ProgramRun implements JobRun {
  readonly #request: JobRequest
  readonly #host: ProgramRunHost
  readonly #answer = Promise.withResolvers<JobAnswer>()
  readonly #ended = Promise.withResolvers<JobUsage>()
  readonly #startedAt = performance.now()
  #target: RequestTarget | undefined
  #call: HttpCall | undefined
  #body: AnswerStream | undefined
  #socket: Duplex | undefined
  #meter: JobMeter | undefined
  #work: number | undefined
  #trailers: string[] = []
  #peakMb = 0
  #tries = 0
  readonly #sharedDemand = new SharedDemand()
  #movedBytes: number | undefined
  #waitTimer: NodeJS.Timeout | undefined
  #settled = false
  paused = false
  readonly progress = undefined

  constructor(request: JobRequest, host: ProgramRunHost) {
    this.#request = request
    this.#host = host
    // The body may fail before it is read.
    request.body?.on('error', () => {})
    if (request.http) this.#requestTarget()
    else this.#settle({ kind: 'error', message: 'a program accepts only HTTP requests' })
    if (this.#settled) this.#conclude()
  }

  get answer(): Promise<JobAnswer> {
    return this.#answer.promise
  }
  get ended(): Promise<JobUsage> {
    return this.#ended.promise
  }
  get interruptible(): boolean {
    return this.#host.exclusive
  }
  get pid(): number | undefined {
    return this.#target?.pid
  }

  /** Sends the request to the target. */
  use(target: RequestTarget): void {
    clearTimeout(this.#waitTimer)
    this.#target = target
    this.#meter?.stop()
    this.#meter = new JobMeter(this.#host.exclusive ? target.account() : undefined)
    const call = new HttpCall(target, this.#request, {
      head: (head, body, long) => this.#begin(head, body, long),
      upgraded: (head, socket) => this.#upgrade(head, socket),
      complete: (trailers, byClosing) => {
        if (byClosing && target.isEnding()) return this.#failed(new Error('aborted'), call, target)
        this.#trailers = trailers
        this.#readWork(trailers)
        this.#finish(undefined)
      },
      failed: (error) => this.#failed(error, call, target),
    })
    this.#call = call
  }

  pause(): void {
    if (this.#settled || this.paused || !this.interruptible) return
    this.paused = true
    clearTimeout(this.#waitTimer)
    if (this.#target) this.#host.pause(this.#target)
    else this.#host.request(this)
    this.#meter?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (this.#settled) return
    if (!this.#target) return this.#requestTarget()
    this.#host.resume(this.#target)
    this.#meter?.resume()
  }

  cancel(): void {
    this.#abandon({ kind: 'cancelled' })
  }

  exceed(message: string, { kind = 'limit', status }: Exceeded = {}): void {
    this.#abandon({ kind, message, ...(status !== undefined && { status }) })
  }

  /** The program ended. Usually its connection reports that, unless another process keeps the connection open. */
  orphaned(): void {
    if (!this.#body && !this.#socket) this.#call?.fail()
  }

  cpuMs(): number {
    return (this.#settled ? this.#meter?.usedMs : this.#meter?.read()) ?? 0
  }

  demandMs(): number | undefined {
    if (this.#settled || !this.#target) return undefined
    const programMs = this.#target.demandMs()
    if (this.#host.exclusive) return programMs
    return this.#sharedDemand.read({ at: performance.now(), programMs, bytes: this.#bytes() })
  }

  isRunnable(): boolean {
    return this.#host.exclusive && (this.#target?.isRunnable() ?? false)
  }

  moved(): boolean {
    const before = this.#movedBytes
    this.#movedBytes = this.#bytes()
    return this.#movedBytes !== before
  }

  /** Frequent samples capture more CPU time of short-lived threads. */
  sample(): void {
    if (!this.#settled) this.#meter?.sample()
  }

  work(): undefined {
    return undefined
  }

  #requestTarget(): void {
    clearTimeout(this.#waitTimer)
    this.#host.request(this)
    if (this.#target || this.#settled) return
    const { waitMs } = this.#host
    this.#waitTimer = setTimeout(() => {
      const message = `waited ${duration(waitMs)} for a program: ${this.#host.unavailableReason()}`
      this.#abandon({ kind: 'unready', message })
    }, waitMs)
  }

  #begin(head: HttpHead, body: AnswerStream, long: LongBody | undefined): void {
    this.#meter!.answered()
    this.#readWork(head.headers)
    this.#body = body
    this.#answer.resolve({ kind: 'http', head, body, long, trailers: () => this.#trailers })
  }

  #upgrade(head: HttpHead, socket: Duplex): void {
    this.#socket = socket
    socket.on('error', () => {}).on('close', () => this.#finish(undefined))
    this.#answer.resolve({ kind: 'upgraded', head, socket })
  }

  /** Bytes sent and received so far; undefined: the answer has not begun. */
  #bytes(): number | undefined {
    return this.#body || this.#socket ? this.#call?.bytes : undefined
  }

  #readWork(raw: readonly string[]): void {
    const [value = ''] = valuesOf(raw, names.work)
    const work = value.trim() === '' ? Number.NaN : Number(value)
    if (work >= 0 && work < Infinity) this.#work = work
  }

  async #failed(error: NodeJS.ErrnoException, call: HttpCall, target: RequestTarget): Promise<void> {
    if (this.#settled) return
    if (error.code?.startsWith('ERR_')) {
      return this.#finish({ kind: 'error', status: 400, message: `cannot be forwarded: ${error.message}` })
    }
    if (!call.connected && ++this.#tries < maxTries) {
      this.#target = undefined
      this.#host.unreachable(this, target)
      if (!this.paused) this.#requestTarget()
      return
    }
    const exit = await target.exit()
    if (this.#settled) return
    const description = exit ? exit.how : describeCallError(error, this.#body !== undefined)
    this.#finish({ kind: exit?.killed ? 'killed' : 'crash', message: `${target.name} ${description}` })
  }

  /** The request has ended; its target is free. */
  #finish(failure: JobFailure | undefined): void {
    if (this.#settled) return
    this.#meter!.answered()
    this.#settle(failure)
    this.#host.ended(this, this.#target!)
    this.#conclude()
  }

  /** Ends the job before its request has ended. */
  #abandon(failure: JobFailure): void {
    if (this.#settled) return
    this.sample()
    this.#settle(failure)
    const target = this.#target
    if (!target) this.#host.withdraw(this)
    else if (this.#host.exclusive) {
      this.#host.discard(target).then(() => this.#conclude())
      return
    } else this.#host.ended(this, target)
    this.#conclude()
  }

  #settle(failure: JobFailure | undefined): void {
    this.#settled = true
    this.#meter?.stop()
    this.#peakMb = this.#target?.peakMb() ?? 0
    clearTimeout(this.#waitTimer)
    if (!failure) this.#body?.complete()
    else {
      this.#call?.abort()
      this.#socket?.destroy()
      const message = failure.kind === 'cancelled' ? 'the job was cancelled' : failure.message
      this.#body?.destroy(new AnswerBroken(failure.kind, message))
      this.#answer.resolve(failure)
    }
  }

  #conclude(): void {
    this.paused = false
    const { usedMs = 0, measure = 'time' } = this.#meter ?? {}
    this.#ended.resolve({
      cpuMs: usedMs,
      wallMs: performance.now() - this.#startedAt,
      peakMemoryMb: this.#peakMb,
      work: this.#work ?? usedMs * 1000,
      measure: this.#work === undefined ? measure : 'header',
    })
  }
}
