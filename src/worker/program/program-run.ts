/** Takes one job to a program and back: sends its request, passes the answer on, and settles what it cost. */
import type { Duplex } from 'node:stream'
import { AnswerBroken } from '../../lib/errors.ts'
import { type HttpHead, headers as names } from '../../wire/messages.ts'
import { valuesOf } from '../../wire/raw-headers.ts'
import type { FailedAnswer, SlotAnswer, SlotJobRequest, SlotRun, SlotUsage } from '../slots/slot-run.ts'
import { HttpCall, type PassedBody } from './http-call.ts'
import { JobMeter } from './job-meter.ts'
import type { Place } from './place.ts'
import { callFault, seconds } from './words.ts'

export interface RunHost {
  /** True: each job has a program to itself, and can be stopped with it. */
  readonly alone: boolean
  /** How long a job waits for a program that is healthy. */
  readonly waitMs: number
  /** Why there is none. */
  whyNone(): string
  /** The job wants a place, and is told by `use`; but not while it is paused. Idempotent. */
  seek(run: ProgramRun): void
  /** Its job is paused, and goes on. */
  pause(place: Place): void
  resume(place: Place): void
  /** It wants none any more. */
  leave(run: ProgramRun): void
  /** No connection came about: the job was not begun, and seeks another. */
  unreachable(run: ProgramRun, place: Place): void
  /** The job is over; its place is free. */
  over(run: ProgramRun, place: Place): void
  /** Ends the place, for what happens in it cannot be ended otherwise. */
  discard(place: Place): Promise<unknown>
}

/** A program may end just as it gets a job. */
const mostTries = 3

export class ProgramRun implements SlotRun {
  readonly #request: SlotJobRequest
  readonly #host: RunHost
  readonly #answer = Promise.withResolvers<SlotAnswer>()
  readonly #ended = Promise.withResolvers<SlotUsage>()
  readonly #startedAt = performance.now()
  #place: Place | undefined
  #call: HttpCall | undefined
  #body: PassedBody | undefined
  #socket: Duplex | undefined
  #meter: JobMeter | undefined
  #work: number | undefined
  #trailers: string[] = []
  #peakMb = 0
  #tries = 0
  #waitTimer: NodeJS.Timeout | undefined
  #settled = false
  paused = false
  readonly progress = undefined

  constructor(request: SlotJobRequest, host: RunHost) {
    this.#request = request
    this.#host = host
    // It may break before anybody reads it.
    request.body?.on('error', () => {})
    if (request.http) this.#seek()
    else this.#settle({ kind: 'error', message: 'a program takes HTTP requests only' })
    if (this.#settled) this.#conclude()
  }

  get answer(): Promise<SlotAnswer> {
    return this.#answer.promise
  }
  get ended(): Promise<SlotUsage> {
    return this.#ended.promise
  }
  get interruptible(): boolean {
    return this.#host.alone
  }
  get pid(): number | undefined {
    return this.#place?.pid
  }

  /** Sends the request there. */
  use(place: Place): void {
    clearTimeout(this.#waitTimer)
    this.#place = place
    this.#meter?.stop()
    this.#meter = new JobMeter(this.#host.alone ? place.account() : undefined)
    const call = new HttpCall(place.address, this.#request, {
      head: (head, body) => this.#begin(head, body),
      upgraded: (head, socket) => this.#upgrade(head, socket),
      complete: (trailers, byClosing) => {
        if (byClosing && place.isEnding()) return this.#failed(new Error('aborted'), call, place)
        this.#trailers = trailers
        this.#readWork(trailers)
        this.#finish(undefined)
      },
      failed: (error) => this.#failed(error, call, place),
    })
    this.#call = call
  }

  pause(): void {
    if (this.#settled || this.paused || !this.interruptible) return
    this.paused = true
    clearTimeout(this.#waitTimer)
    if (this.#place) this.#host.pause(this.#place)
    else this.#host.seek(this)
    this.#meter?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (this.#settled) return
    if (!this.#place) return this.#seek()
    this.#host.resume(this.#place)
    this.#meter?.resume()
  }

  cancel(): void {
    this.#abandon({ kind: 'cancelled' })
  }

  /** Its program has outgrown what one job may use. */
  outgrown(message: string): void {
    this.#abandon({ kind: 'limit', message })
  }

  /** Its program is gone. As a rule its connection says so; this is for those that another process holds open. */
  orphaned(): void {
    if (!this.#body && !this.#socket) this.#call?.breakOff()
  }

  cpuMs(): number {
    return (this.#settled ? this.#meter?.usedMs : this.#meter?.read()) ?? 0
  }

  /** The more often while threads come and go, the more of their CPU time is known. */
  sample(): void {
    if (!this.#settled) this.#meter?.sample()
  }

  work(): undefined {
    return undefined
  }

  #seek(): void {
    clearTimeout(this.#waitTimer)
    const { waitMs } = this.#host
    this.#waitTimer = setTimeout(() => {
      const message = `waited ${seconds(waitMs)} for a program: ${this.#host.whyNone()}`
      this.#abandon({ kind: 'unready', message })
    }, waitMs)
    this.#host.seek(this)
  }

  #begin(head: HttpHead, body: PassedBody): void {
    this.#meter!.answered()
    this.#readWork(head.headers)
    this.#body = body
    this.#answer.resolve({ kind: 'http', head, body, trailers: () => this.#trailers })
  }

  #upgrade(head: HttpHead, socket: Duplex): void {
    this.#socket = socket
    socket.on('error', () => {}).on('close', () => this.#finish(undefined))
    this.#answer.resolve({ kind: 'upgraded', head, socket })
  }

  #readWork(raw: readonly string[]): void {
    const [value = ''] = valuesOf(raw, names.work)
    const work = value.trim() === '' ? Number.NaN : Number(value)
    if (work >= 0 && work < Infinity) this.#work = work
  }

  async #failed(error: NodeJS.ErrnoException, call: HttpCall, place: Place): Promise<void> {
    if (this.#settled) return
    if (error.code?.startsWith('ERR_')) {
      return this.#finish({ kind: 'error', status: 400, message: `cannot be passed on: ${error.message}` })
    }
    if (!call.connected && ++this.#tries < mostTries) {
      this.#place = undefined
      this.#host.unreachable(this, place)
      if (!this.paused) this.#seek()
      return
    }
    const fate = await place.fate()
    if (this.#settled) return
    const what = fate ? fate.how : callFault(error, this.#body !== undefined)
    this.#finish({ kind: fate?.killed ? 'killed' : 'crash', message: `${place.name} ${what}` })
  }

  /** The request is over, and its place free. */
  #finish(failure: FailedAnswer | undefined): void {
    if (this.#settled) return
    this.#meter!.answered()
    this.#settle(failure)
    this.#host.over(this, this.#place!)
    this.#conclude()
  }

  /** Ends the job before its request is over. */
  #abandon(failure: FailedAnswer): void {
    if (this.#settled) return
    this.sample()
    this.#settle(failure)
    const place = this.#place
    if (!place) this.#host.leave(this)
    else if (this.#host.alone) {
      this.#host.discard(place).then(() => this.#conclude())
      return
    } else this.#host.over(this, place)
    this.#conclude()
  }

  #settle(failure: FailedAnswer | undefined): void {
    this.#settled = true
    this.#meter?.stop()
    this.#peakMb = this.#place?.peakMb() ?? 0
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
