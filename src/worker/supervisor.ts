/** Runs the attempts in a worker's hands: which of them now is the discipline's choice, SIGSTOP and SIGCONT do it. */

import type { Readable } from 'node:stream'
import type { AttemptToken, HeldAttempt } from '../model.ts'
import type { AttemptHead, FromWorker } from '../wire/messages.ts'
import { type Discipline, overrun, type Runnable, revisedWork } from './discipline.ts'
import type { SlotAnswer, SlotPool, SlotRun, SlotUsage } from './slots.ts'

/** Until work is metered, a unit of work is a microsecond of CPU time. */
export const workPerCpuMs = 1000

/** Of attempts that were here and may start only once, so many are remembered: far more than can still be under way. */
const mostAsked = 10_000

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1

/** An attempt that was taken. Both promises never reject. */
export interface Taken {
  answer: Promise<SlotAnswer>
  usage: Promise<SlotUsage>
  cancel(): void
}

interface Held extends Runnable {
  readonly head: AttemptHead
  readonly body: Readable | undefined
  readonly answer: PromiseWithResolvers<SlotAnswer>
  readonly usage: PromiseWithResolvers<SlotUsage>
  run: SlotRun | undefined
  /** Waits for permission to start. */
  asks: boolean
  over: boolean
  expected: number
  reviseAt: number
  reviseTimer: NodeJS.Timeout | undefined
  /** What the brain was last told, and can extrapolate from. */
  told: { done: number; at: number; running: boolean }
}

export interface SupervisorOptions {
  pool: SlotPool
  cores: number
  slots: number
  say(message: FromWorker): void
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #held = new Map<string, Held>()
  /** Attempts that may start only once and have been here: none of them begins again. */
  readonly #asked = new Set<string>()
  discipline: Discipline
  #draining = false

  constructor(options: SupervisorOptions, discipline: Discipline) {
    this.#options = options
    this.discipline = discipline
  }

  /** Takes an attempt, or says why not. */
  take(head: AttemptHead, body: Readable | undefined): Taken | { refused: string } {
    const key = keyOf(head)
    if (this.#draining) return { refused: 'the worker is draining' }
    if (this.#held.has(key) || this.#asked.has(key)) return { refused: 'the attempt is here already' }
    if (this.#held.size >= this.#options.slots)
      return { refused: `all ${this.#options.slots} slots are taken` }
    const held = newHeld(head, body)
    this.#held.set(key, held)
    if (head.ask) {
      this.#asked.add(key)
      if (this.#asked.size > mostAsked) this.#asked.delete(this.#asked.values().next().value!)
      this.#say('ready', head)
    } else this.#choose()
    return { answer: held.answer.promise, usage: held.usage.promise, cancel: () => this.cancel(head) }
  }

  go(token: AttemptToken): void {
    const held = this.#held.get(keyOf(token))
    if (!held?.asks) return
    held.asks = false
    this.#choose()
  }

  cancel(token: AttemptToken): void {
    const held = this.#held.get(keyOf(token))
    if (!held) return
    if (held.run) held.run.cancel()
    else this.#over(held, { kind: 'cancelled' }, { cpuMs: 0, wallMs: 0, peakMemoryMb: 0 })
  }

  drain(): void {
    this.#draining = true
  }

  /** What is in its hands; how much of it is done is told where the brain cannot know. */
  report(): HeldAttempt[] {
    return [...this.#held.values()].map((held) => {
      const token = tokenOf(held.head)
      if (!held.run) return token
      const done = doneBy(held)
      const { told } = held
      const now = performance.now()
      const guessed = told.done + (told.running ? (now - told.at) * workPerCpuMs : 0)
      if (told.running === held.running && Math.abs(done - guessed) <= 0.1 * guessed + 20 * workPerCpuMs)
        return token
      held.told = { done, at: now, running: held.running }
      return { ...token, done }
    })
  }

  /** Asks again for permissions that have not come: the brain may have been away. */
  askAgain(): void {
    for (const held of this.#held.values()) if (held.asks) this.#say('ready', held.head)
  }

  #choose(): void {
    const jobs = [...this.#held.values()].filter((held) => !held.asks && !held.over)
    const chosen = this.discipline.choose(jobs, this.#options.cores, (held) =>
      Math.max(0, held.expected - doneBy(held)),
    )
    for (const held of jobs) if (held.running && !chosen.includes(held)) this.#pause(held)
    for (const held of chosen) if (!held.running) this.#run(held)
  }

  #pause(held: Held): void {
    held.run!.pause()
    // Inside `ctx.uninterrupted` it goes on; the choice is made again when it comes out.
    if (!held.run!.interruptible) return
    held.running = false
    clearTimeout(held.reviseTimer)
    held.told = { done: doneBy(held), at: performance.now(), running: false }
  }

  #run(held: Held): void {
    held.running = true
    held.told = { done: held.run ? held.told.done : 0, at: performance.now(), running: true }
    if (held.run) held.run.resume()
    else this.#start(held)
    this.#planRevision(held, held.told.done)
  }

  #start(held: Held): void {
    const { job, attempt, workload, params } = held.head
    const run = this.#options.pool.start({
      job,
      attempt,
      workload,
      params,
      ...(held.body && { body: held.body }),
    })
    held.run = run
    run.onInterruptible = () => this.#choose()
    Promise.all([run.answer.then((answer) => this.#answered(held, answer)), run.ended]).then(
      ([answer, usage]) => this.#over(held, answer, usage),
    )
  }

  #answered(held: Held, answer: SlotAnswer): SlotAnswer {
    held.answer.resolve(answer)
    return answer
  }

  #over(held: Held, answer: SlotAnswer, usage: SlotUsage): void {
    held.over = true
    held.running = false
    clearTimeout(held.reviseTimer)
    this.#held.delete(keyOf(held.head))
    held.answer.resolve(answer)
    held.usage.resolve(usage)
    this.#choose()
  }

  /** A job that outgrows its estimate is ranked anew, and the brain is told. */
  #planRevision(held: Held, done: number): void {
    if (!this.discipline.ranks) return
    clearTimeout(held.reviseTimer)
    const leftMs = (held.reviseAt - done) / workPerCpuMs
    const waitMs = Math.min(Math.max(1, leftMs), longestTimerMs)
    held.reviseTimer = setTimeout(() => this.#revise(held), waitMs).unref()
  }

  #revise(held: Held): void {
    const done = doneBy(held)
    if (done >= held.reviseAt) {
      held.told = { done, at: performance.now(), running: held.running }
      held.expected = revisedWork(held.head.work, done)
      held.reviseAt = held.expected
      this.#options.say({ type: 'progress', ...tokenOf(held.head), done })
      this.#choose()
    }
    if (held.running) this.#planRevision(held, done)
  }

  #say(type: 'ready', token: AttemptToken): void {
    this.#options.say({ type, ...tokenOf(token) })
  }
}

function newHeld(head: AttemptHead, body: Readable | undefined): Held {
  return {
    head,
    body,
    answer: Promise.withResolvers(),
    usage: Promise.withResolvers(),
    run: undefined,
    asks: head.ask,
    over: false,
    running: false,
    get preemptible() {
      return head.preemptible && (this.run?.interruptible ?? true)
    },
    expected: head.work,
    reviseAt: head.work * overrun,
    reviseTimer: undefined,
    told: { done: 0, at: performance.now(), running: false },
  }
}

function doneBy(held: Held): number {
  return (held.run?.cpuMs() ?? 0) * workPerCpuMs
}

function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch}/${job}/${attempt}`
}

function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}
