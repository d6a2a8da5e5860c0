/** Runs the attempts in a worker's hands: which of them now is the discipline's choice, SIGSTOP and SIGCONT do it. */

import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import { type Discipline, nextPoint, rankOf } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import { amountOf, type Following, type MeterSetting, quantitiesIn } from '../model/metering.ts'
import type { AttemptHead, FromWorker } from '../wire/messages.ts'
import {
  type AttemptBody,
  type Held,
  keyOf,
  newHeld,
  remember,
  standAnew,
  tokenOf,
  type Usage,
} from './held.ts'
import type { JobPool } from './job-pool.ts'
import { nominalRate, Rates } from './rates.ts'
import type { SlotAnswer, SlotUsage } from './slots/slot-run.ts'

/** A rate may change: when a job passes its estimate is predicted anew at least so often. */
const longestPlanMs = 1000
/** Nor more often than this: a job may wait for something, and do no work. */
const shortestPlanMs = 10
/** The brain need not know how far a job is to a finer grain. */
const grainMs = 20

/** An attempt that was taken. Both promises never reject. */
export interface Taken {
  answer: Promise<SlotAnswer>
  usage: Promise<Usage>
  cancel(): void
}

export interface SupervisorOptions {
  pool: JobPool
  cores: number
  slots: number
  meter: MeterSetting
  say(message: FromWorker): void
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #held = new Map<string, Held>()
  /** Attempts that may start only once and have been here: none of them begins again. */
  readonly #asked = new Map<string, true>()
  /** Precedences of attempts that have not come yet. */
  readonly #early = new Map<string, Precedence>()
  readonly #rates: Rates
  /** What the brain takes every job to do in a millisecond. */
  readonly #nominal: number
  #endedCpuMs = 0
  discipline: Discipline
  following: Following = {}

  constructor(options: SupervisorOptions, discipline: Discipline) {
    this.#options = options
    this.discipline = discipline
    this.#nominal = nominalRate(options.meter)
    this.#rates = new Rates(this.#nominal)
  }

  /** Takes an attempt, or says why not. */
  take(head: AttemptHead, sent: AttemptBody = {}): Taken | { refused: string; full?: true } {
    const key = keyOf(head)
    if (this.#held.has(key) || this.#asked.has(key)) return { refused: 'the attempt is here already' }
    if (this.#held.size >= this.#options.slots)
      return { refused: `all ${this.#options.slots} slots are taken`, full: true }
    const held = newHeld(head, sent, this.following)
    Object.assign(held, this.#early.get(key))
    this.#early.delete(key)
    this.#held.set(key, held)
    if (head.ask) {
      remember(this.#asked, key, true)
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

  /** From now on the attempt has this precedence, also one that is still on its way here. */
  rank(token: AttemptToken, precedence: Precedence): void {
    const held = this.#held.get(keyOf(token))
    if (!held) {
      remember(this.#early, keyOf(token), precedence)
      return
    }
    Object.assign(held, precedence)
    this.#choose()
    if (held.running) this.#planRevision(held)
  }

  /** What is in its hands; how much of it is done is told where the brain cannot know. */
  report(): HeldAttempt[] {
    let changed = false
    const report = [...this.#held.values()].map((held) => {
      const token = tokenOf(held.head)
      if (!held.run) return token
      this.#learn(held)
      const done = this.#doneBy(held)
      const guessed = this.#guessedBy(held)
      const closeEnough = Math.abs(done - guessed) <= 0.1 * guessed + grainMs * this.#nominal
      if (held.told.running === held.running && closeEnough) return token
      this.#tell(held, done)
      if (this.#passes(held, done)) changed = true
      return { ...token, done }
    })
    if (changed) this.#choose()
    return report
  }

  /** The CPU time that its jobs have had, those that are over and those that are not. */
  cpuMs(): number {
    let ms = this.#endedCpuMs
    for (const { run } of this.#held.values()) ms += run?.cpuMs() ?? 0
    return ms
  }

  /** Asks again for permissions that have not come: the brain may have been away. */
  askAgain(): void {
    for (const held of this.#held.values()) if (held.asks) this.#say('ready', held.head)
  }

  #choose(): void {
    const jobs = [...this.#held.values()].filter((held) => !held.asks && !held.over)
    for (const held of jobs) {
      const done = this.#doneBy(held)
      held.rank = rankOf(held, done, Math.max(0, held.expected - done))
    }
    const chosen = this.discipline.choose(jobs, this.#options.cores)
    for (const held of jobs) if (held.running && !chosen.includes(held)) this.#pause(held)
    for (const held of chosen) if (!held.running) this.#run(held)
  }

  #pause(held: Held): void {
    held.run!.pause()
    // Inside `ctx.uninterrupted` it goes on; the choice is made again when it comes out.
    if (!held.run!.interruptible) return
    held.running = false
    clearTimeout(held.reviseTimer)
    this.#tell(held, this.#guessedBy(held))
  }

  #run(held: Held): void {
    held.running = true
    this.#tell(held, held.told.done)
    if (held.run) held.run.resume()
    else this.#start(held)
    this.#planRevision(held)
  }

  #start(held: Held): void {
    const { job, attempt, workload, params, http } = held.head
    const run = this.#options.pool.start({
      job,
      attempt,
      workload,
      params,
      ...(held.body && { body: held.body }),
      ...(http && { http }),
      ...(held.trailers && { trailers: held.trailers }),
      ...(held.metrics && { tallies: true }),
    })
    held.run = run
    run.onInterruptible = () => this.#choose()
    run.onWork = () => this.#follow(held)
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
    this.#learn(held)
    clearTimeout(held.reviseTimer)
    this.#held.delete(keyOf(held.head))
    this.#endedCpuMs += usage.cpuMs
    held.answer.resolve(answer)
    held.usage.resolve({ ...usage, work: this.#workOf(usage), ...this.#told(usage) })
    this.#choose()
  }

  /** A job that outgrows its estimate is ranked anew, and the brain is told. */
  #planRevision(held: Held): void {
    if (!this.discipline.ranks) return
    clearTimeout(held.reviseTimer)
    const leftMs = (nextPoint(held) - this.#doneBy(held)) / this.#rates.of(held.head.workload)
    const waitMs = Math.min(Math.max(shortestPlanMs, leftMs), longestPlanMs)
    held.reviseTimer = setTimeout(() => this.#revise(held), waitMs).unref()
  }

  #revise(held: Held): void {
    const done = this.#doneBy(held)
    if (this.#passes(held, done)) {
      this.#sayProgress(held, done)
      this.#choose()
    }
    if (held.running) this.#planRevision(held)
  }

  /**
   * True: with so much done it has another place among the others. Whenever the brain is told how much is done it comes
   * to the same, so this must be called with the very figure.
   */
  #passes(held: Held, done: number): boolean {
    if (!this.discipline.ranks || done < nextPoint(held)) return false
    standAnew(held, done)
    return true
  }

  /** The meter has said more of a job. */
  #follow(held: Held): void {
    const { at: _, ...done } = held.run!.work()!
    if (held.progress?.passed(done)) {
      this.#sayProgress(held, done.work)
      if (this.#passes(held, done.work)) this.#choose()
    }
    if (held.metrics?.passed(done)) this.#options.say({ type: 'metrics', ...tokenOf(held.head), ...done })
  }

  #sayProgress(held: Held, done: number): void {
    this.#tell(held, done)
    this.#options.say({ type: 'progress', ...tokenOf(held.head), done })
  }

  /** From now on the brain believes that so much is done. */
  #tell(held: Held, done: number): void {
    held.told = { done, at: performance.now(), running: held.running }
  }

  /** What the brain believes: it extrapolates, as mirror.ts does, where it knows which jobs run. */
  #guessedBy({ told }: Held): number {
    const extrapolates = told.running && this.discipline.bounded
    return told.done + (extrapolates ? (performance.now() - told.at) * this.#nominal : 0)
  }

  #doneBy({ run }: Held): number {
    if (!run) return 0
    return this.#options.meter === 'off' ? run.cpuMs() * this.#nominal : (run.work()?.work ?? 0)
  }

  /** The quantities that answers carry by themselves. */
  #told({ tally }: SlotUsage): Pick<Usage, 'told'> {
    const named = quantitiesIn(this.#options.meter)
    if (!tally || named.length === 0) return {}
    return { told: Object.fromEntries(named.map((each) => [each.header, amountOf(each, tally)])) }
  }

  #workOf({ work, cpuMs, measure }: SlotUsage): number {
    if (measure !== undefined && work !== undefined) return work
    return this.#options.meter === 'off' ? cpuMs * this.#nominal : (work ?? 0)
  }

  #learn(held: Held): void {
    if (this.#options.meter === 'off' || !held.run) return
    const { learned } = held
    held.learned = { work: this.#doneBy(held), cpuMs: held.run.cpuMs() }
    const { work, cpuMs } = held.learned
    this.#rates.learn(held.head.workload, work - learned.work, cpuMs - learned.cpuMs)
  }

  #say(type: 'ready', token: AttemptToken): void {
    this.#options.say({ type, ...tokenOf(token) })
  }
}
