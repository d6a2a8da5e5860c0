/** Clients, jobs and a brain for tests of shared answers. */

import assert from 'node:assert/strict'
import type { Job } from '../../../model/job.ts'
import type { Account, WholeAnswer } from '../../../wire/whole-answer.ts'
import { refusal } from '../../problem.ts'
import type { Receiver, Sink } from '../../receiver.ts'
import { SharedAnswers } from '../shared-answers.ts'

export const answer: WholeAnswer = { status: 200, fields: {}, body: Buffer.from('answer') }

/** A client that records its answers. */
export class Listener implements Receiver {
  readonly takesStreams = true
  readonly job: Job
  readonly given: { how: string; account: Account }[] = []
  readonly #then: (() => void)[] = []
  hungUp = false
  streaming = false

  constructor(job: Job) {
    this.job = job
  }

  get waits(): boolean {
    return !this.hungUp && this.given.length === 0
  }

  onGone(then: () => void): void {
    this.#then.push(then)
  }

  hangUp(): void {
    this.hungUp = true
    for (const then of this.#then) then()
  }

  attempted(): void {}

  mayHold(): boolean {
    return false
  }

  closeAfterwards(): void {}

  refuse({ code }: { code: string }, account: Account): void {
    this.#give(code, account)
  }

  breakOff(): void {
    assert.ok(this.streaming, 'only an answer that has begun breaks off')
    this.#give('broken', {})
  }

  deliver(whole: WholeAnswer, account: Account): void {
    assert.ok(!this.streaming)
    assert.equal(whole, answer)
    this.#give('whole', account)
  }

  begin(_: unknown, account: Account): Sink {
    assert.ok(this.waits && !this.streaming)
    this.streaming = true
    return {
      write: () => undefined,
      end: () => {
        this.#give('stream', account)
        for (const then of this.#then) then()
      },
    }
  }

  #give(how: string, account: Account): void {
    assert.ok(this.waits, `a client that does not wait is given ${how}`)
    this.given.push({ how, account })
  }
}

/** An exchange, as its receiver sees it. */
export interface Running {
  job: Job
  receiver: Receiver
  sink?: Sink
  done: boolean
  cancelled: boolean
}

/** The front around shared answers, and a brain that the test controls. */
export class World {
  readonly answers = new SharedAnswers(() => Date.now())
  readonly listeners: Listener[] = []
  readonly jobs: Running[] = []
  readonly computations: { live: Running[]; overs: number }[] = []
  kept = 0

  arrive(key: string, { deadlineMs, client = 'a', fresh = false }: Arrival = {}): Listener {
    const job: Job = {
      ...{ id: `j${this.listeners.length}`, workload: 'w', work: 1, memoryMb: 1, client },
      ...(deadlineMs !== undefined && { deadlineAt: Date.now() + deadlineMs }),
    }
    const listener = new Listener(job)
    this.listeners.push(listener)
    const waiter = { job, client: listener, arrivedAt: Date.now() }
    if (!fresh && this.answers.join(key, waiter, 1_000)) return listener
    const computation = { live: [] as Running[], overs: 0 }
    this.computations.push(computation)
    this.answers.lead(key, waiter, {
      mostBytes: 100,
      start: (started, receiver) => {
        assert.ok(!this.jobs.some((other) => other.job.id === started.id), 'no job is started twice')
        assert.equal(computation.overs, 0)
        const running: Running = { job: started, receiver, done: false, cancelled: false }
        receiver.onGone(() => {
          if (running.done) return
          running.done = true
          running.cancelled = true
        })
        this.jobs.push(running)
        computation.live.push(running)
      },
      keep: () => this.kept++,
      ended: () => {
        computation.overs++
      },
    })
    return listener
  }

  get live(): Running[] {
    return this.jobs.filter(({ done }) => !done)
  }

  get waiting(): Listener[] {
    return this.listeners.filter(({ waits }) => waits)
  }

  finish(running: Running): void {
    running.done = true
    const before = this.waiting.length
    if (running.sink) running.sink.end()
    else running.receiver.deliver(answer, { 'plimsoll-job': running.job.id })
    assert.ok(this.waiting.length < before, 'somebody waited for what was computed')
  }

  refuse(running: Running, code: string): void {
    running.done = true
    running.receiver.refuse(refusal({ code, afterMs: 1, retryAfterMs: 1 }), {
      'plimsoll-job': running.job.id,
    })
  }

  breakOff(running: Running): void {
    if (!running.sink) return
    running.done = true
    running.receiver.breakOff()
  }

  begin(running: Running): void {
    if (running.sink) return
    const sink = running.receiver.begin(answer, { 'plimsoll-job': running.job.id })
    running.sink = sink
  }

  /** The brain refuses jobs past their deadline. */
  checkDeadlines(): void {
    for (const running of this.live) {
      if ((running.job.deadlineAt ?? Infinity) <= Date.now()) this.refuse(running, 'deadline')
    }
  }
}

export interface Arrival {
  deadlineMs?: number | undefined
  client?: string
  fresh?: boolean
}
