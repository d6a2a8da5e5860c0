/** A virtual job: waits, then uses a core while it is not paused, then answers as fast as its answer is read. */

import { Readable } from 'node:stream'
import type { JobPool } from '../../src/worker/job-pool.ts'
import type { Exceeded, JobAnswer, JobRequest, JobRun, JobUsage } from '../../src/worker/job-run.ts'
import { type JobParams, resultOf } from './workload.ts'

/** A long answer is written in parts of this size, as a pipe takes them. */
const partBytes = 32 * 1024

export function virtualPool(started: (params: JobParams) => void): JobPool {
  return {
    size: 0,
    ready: () => Promise.resolve(),
    start: (job) => new VirtualRun(job, started),
    close: () => Promise.resolve(),
  }
}

class VirtualRun implements JobRun {
  readonly #answer = Promise.withResolvers<JobAnswer>()
  readonly #ended = Promise.withResolvers<JobUsage>()
  readonly #params: JobParams
  readonly #began = performance.now()
  #doneMs = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #computing = false
  #answered = false
  #over = false
  #moved = false
  #body: Readable | undefined
  paused = false
  readonly interruptible = true
  readonly progress = undefined
  readonly pid = undefined

  constructor({ params }: JobRequest, started: (params: JobParams) => void) {
    this.#params = params as JobParams
    started(this.#params)
    const { waitMs } = this.#params
    if (waitMs === 0) this.#compute()
    else if (waitMs !== null) this.#timer = setTimeout(() => this.#compute(), waitMs)
  }

  get answer(): Promise<JobAnswer> {
    return this.#answer.promise
  }

  get ended(): Promise<JobUsage> {
    return this.#ended.promise
  }

  pause(): void {
    if (this.paused || this.#over) return
    this.#doneMs = this.cpuMs()
    this.paused = true
    if (this.#computing) clearTimeout(this.#timer)
  }

  resume(): void {
    if (!this.paused || this.#over) return
    this.paused = false
    if (this.#computing) this.#continue()
  }

  cancel(): void {
    this.#end({ kind: 'cancelled' })
  }

  exceed(message: string, { kind = 'limit', status }: Exceeded = {}): void {
    this.#end({ kind, message, ...(status !== undefined && { status }) })
  }

  cpuMs(): number {
    return this.#doneMs + (this.isRunnable() && !this.paused ? performance.now() - this.#since : 0)
  }

  demandMs(): number {
    return this.cpuMs()
  }

  isRunnable(): boolean {
    return this.#computing && !this.#answered && !this.#over
  }

  moved(): boolean {
    const moved = this.#moved
    this.#moved = false
    return moved
  }

  work(): undefined {}

  /** What it waited for is there. */
  #compute(): void {
    this.#computing = true
    if (!this.paused) this.#continue()
  }

  #continue(): void {
    if (this.#answered) return
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#answerNow(), this.#params.runMs - this.#doneMs)
  }

  #answerNow(): void {
    this.#doneMs = this.cpuMs()
    this.#answered = true
    const { request, answerBytes } = this.#params
    const text = Buffer.from(`${resultOf(request)}`.padEnd(answerBytes))
    let sent = 0
    const body = new Readable({
      highWaterMark: partBytes,
      read: () => {
        this.#moved = true
        const part = text.subarray(sent, sent + partBytes)
        sent += part.length
        if (part.length > 0) body.push(part)
        else {
          body.push(null)
          this.#end()
        }
      },
    })
    this.#body = body
    this.#answer.resolve({ kind: 'result', status: 200, contentType: 'text/plain', headers: {}, body })
  }

  /** Without an answer: it has been given. */
  #end(answer?: JobAnswer): void {
    if (this.#over) return
    this.#doneMs = this.cpuMs()
    this.#over = true
    clearTimeout(this.#timer)
    if (answer) {
      this.#answer.resolve(answer)
      this.#body?.destroy()
    }
    const wallMs = performance.now() - this.#began
    this.#ended.resolve({ cpuMs: this.#doneMs, wallMs, peakMemoryMb: 1 })
  }
}
