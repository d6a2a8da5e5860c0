/** Runs the attempts of a worker. The discipline chooses which of them run now; the others are paused by SIGSTOP. */

import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import { type Discipline, nextPoint, rankOf, unpaused } from '../model/discipline.ts'
import type { Precedence } from '../model/job.ts'
import type { Following, MeterSetting } from '../model/metering.ts'
import type { AttemptHead, FromWorker } from '../wire/messages.ts'
import {
  type AttemptBody,
  type AttemptState,
  holdsCore,
  keyOf,
  newAttempt,
  remember,
  revise,
  tokenOf,
  type Usage,
  withWork,
} from './attempt-state.ts'
import { BelievedProgress } from './believed-progress.ts'
import { IdleWatch } from './idle-watch.ts'
import { JobLimits } from './job-limits.ts'
import type { JobPool } from './job-pool.ts'
import type { JobAnswer, JobUsage } from './job-run.ts'
import { nominalRate, Rates } from './rates.ts'

/** Maximum time until the next revision: rates change, so the prediction of when a job passes its estimate may be late. */
const maxRevisionMs = 1000
/** Minimum time until the next revision: a job may be waiting and do no work. */
const minRevisionMs = 10

/** The promises never reject. */
export interface AcceptedAttempt {
  answer: Promise<JobAnswer>
  usage: Promise<Usage>
  cancel(): void
}

export interface SupervisorOptions {
  pool: JobPool
  cores: number
  slots: number
  meter: MeterSetting
  /** Time limit of a job of this workload; Infinity: none. Default: none. */
  limitMs?(workload: string): number
  send(message: FromWorker): void
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #held = new Map<string, AttemptState>()
  /** Attempts that may start only once and were accepted before. */
  readonly #startOnce = new Map<string, true>()
  /** Precedences of attempts that have not arrived yet. */
  readonly #pendingRanks = new Map<string, Precedence>()
  readonly #rates: Rates
  readonly #believed: BelievedProgress
  /** Work per millisecond that the brain assumes for every job. */
  readonly #nominal: number
  readonly #idleWatch = new IdleWatch<AttemptState>((attempt, waiting) => this.#onWaiting(attempt, waiting))
  readonly #limits: JobLimits<AttemptState>
  #endedDemandMs = 0
  discipline: Discipline
  following: Following = {}
  /** Attempts of a leader of an earlier term than this one may end here, but not begin. */
  term = 0

  constructor(options: SupervisorOptions, discipline: Discipline) {
    this.#options = options
    this.discipline = discipline
    this.#limits = new JobLimits((workload) => options.limitMs?.(workload) ?? Infinity, options.cores)
    this.#nominal = nominalRate(options.meter)
    this.#rates = new Rates(this.#nominal)
    this.#believed = new BelievedProgress(options.cores, this.#nominal)
  }

  /** Accepts an attempt, or returns the reason for refusing it. */
  take(head: AttemptHead, sent: AttemptBody = {}): AcceptedAttempt | { refused: string; full?: true } {
    const key = keyOf(head)
    if (this.#held.has(key) || this.#startOnce.has(key))
      return { refused: 'the attempt was already accepted' }
    if (this.#held.size >= this.#options.slots)
      return { refused: `all ${this.#options.slots} slots are taken`, full: true }
    const attempt = newAttempt(head, sent, this.following, this.#nominal * 1000)
    Object.assign(attempt, this.#pendingRanks.get(key))
    this.#pendingRanks.delete(key)
    this.#held.set(key, attempt)
    if (head.ask) {
      remember(this.#startOnce, key, true)
      this.#options.send({ type: 'ready', ...tokenOf(head) })
    } else this.#choose()
    return { answer: attempt.answer.promise, usage: attempt.usage.promise, cancel: () => this.cancel(head) }
  }

  go(token: AttemptToken): void {
    const attempt = this.#held.get(keyOf(token))
    if (!attempt?.awaitsGo) return
    attempt.awaitsGo = false
    this.#choose()
  }

  cancel(token: AttemptToken): void {
    const attempt = this.#held.get(keyOf(token))
    if (!attempt) return
    if (attempt.run) attempt.run.cancel()
    else this.#end(attempt, { kind: 'cancelled' }, { cpuMs: 0, wallMs: 0, peakMemoryMb: 0 })
  }

  /** Sets the precedence of an attempt, even of one that has not arrived yet. */
  rank(token: AttemptToken, precedence: Precedence): void {
    const attempt = this.#held.get(keyOf(token))
    if (!attempt) {
      remember(this.#pendingRanks, keyOf(token), precedence)
      return
    }
    Object.assign(attempt, precedence)
    this.#choose()
    if (attempt.running) this.#planRevision(attempt)
  }

  /** All accepted attempts, with their progress if it differs from what the brain assumes, or if it may know nothing. */
  report(isNews = false): HeldAttempt[] {
    let changed = false
    const report = [...this.#held.values()].map((attempt) => {
      const token = tokenOf(attempt.head)
      if (!attempt.run) return token
      this.#learn(attempt)
      const done = this.#done(attempt)
      const activity = this.#believed.activity(attempt)
      const closeEnough = this.#believed.isClose(attempt, done, this.discipline.bounded)
      const waiting = attempt.waiting && { waiting: true as const }
      if (!isNews && !activity && attempt.reported.onCore === holdsCore(attempt) && closeEnough)
        return { ...token, ...waiting }
      this.#believed.mark(attempt, done)
      if (this.#reviseIfDue(attempt, done)) changed = true
      return { ...token, done, ...waiting, ...activity }
    })
    if (changed) this.#choose()
    return report
  }

  /** CPU time that all jobs used or waited for so far, running and ended. */
  demandMs(): number {
    let ms = this.#endedDemandMs
    for (const { run } of this.#held.values()) if (run) ms += run.cpuMs() + (run.queuedMs?.() ?? 0)
    return ms
  }

  /** Asks again for permission to start: the brain may have missed the first request. */
  askAgain(): void {
    for (const { awaitsGo, head } of this.#held.values())
      if (awaitsGo) this.#options.send({ type: 'ready', ...tokenOf(head) })
  }

  #choose(): void {
    const jobs = [...this.#held.values()].filter((attempt) => !attempt.awaitsGo && !attempt.ended)
    const { cores } = this.#options
    // Ranks are read only where jobs compete for the cores.
    if (this.discipline.ranks && jobs.length > cores) for (const job of jobs) this.#rank(job)
    const chosen = unpaused(this.discipline, jobs, cores)
    const running = chosen.filter(({ waiting }) => !waiting).length
    this.#believed.setRunning(jobs, running, this.discipline.bounded)
    const kept = chosen.length < jobs.length ? new Set(chosen) : undefined
    for (const attempt of jobs) if (attempt.running && kept?.has(attempt) === false) this.#pause(attempt)
    for (const attempt of chosen) if (!attempt.running) this.#run(attempt)
  }

  #rank(attempt: AttemptState): void {
    const done = this.#done(attempt)
    attempt.rank = rankOf(attempt, done, Math.max(0, attempt.expected - done))
  }

  #pause(attempt: AttemptState): void {
    attempt.run!.pause()
    // A job inside `ctx.uninterrupted` keeps running; `onInterruptible` triggers the next choice.
    if (!attempt.run!.interruptible) return
    attempt.running = false
    this.#idleWatch.remove(attempt)
    this.#limits.pause(attempt)
    clearTimeout(attempt.reviseTimer)
    this.#believed.mark(attempt, this.#believed.of(attempt, this.discipline.bounded))
  }

  #run(attempt: AttemptState): void {
    attempt.running = true
    this.#believed.mark(attempt, attempt.reported.done)
    if (attempt.run) attempt.run.resume()
    else this.#start(attempt)
    this.#planRevision(attempt)
    this.#idleWatch.add(attempt)
    this.#limits.start(attempt)
  }

  #start(attempt: AttemptState): void {
    const { job, attempt: number, workload, params, http, channel, ask } = attempt.head
    const run = this.#options.pool.start({
      job,
      attempt: number,
      workload,
      params,
      ...(attempt.body && { body: attempt.body }),
      ...(http && { http }),
      ...(attempt.trailers && { trailers: attempt.trailers }),
      ...(attempt.metrics && { tallies: true }),
      ...(channel && { channel }),
      repeatable: !ask,
      remainingMs: () => this.#remainingMs(attempt),
    })
    attempt.run = run
    run.onInterruptible = () => this.#choose()
    run.onWork = () => this.#onWork(attempt)
    run.answer.then((answer) => attempt.answer.resolve(answer))
    Promise.all([run.answer, run.ended]).then(([answer, usage]) => this.#end(attempt, answer, usage))
  }

  #end(attempt: AttemptState, answer: JobAnswer, usage: JobUsage): void {
    attempt.ended = true
    attempt.running = false
    this.#idleWatch.remove(attempt)
    this.#limits.delete(attempt)
    this.#learn(attempt)
    clearTimeout(attempt.reviseTimer)
    this.#held.delete(keyOf(attempt.head))
    this.#endedDemandMs += usage.cpuMs + (usage.queuedMs ?? 0)
    attempt.answer.resolve(answer)
    attempt.usage.resolve(withWork(usage, this.#options.meter, this.#nominal))
    this.#choose()
  }

  /** Schedules the revision of the estimate, for the time when the job is expected to pass it, or the brain believes that it has ended. */
  #planRevision(attempt: AttemptState): void {
    if (!this.discipline.ranks) return
    clearTimeout(attempt.reviseTimer)
    const leftMs = (nextPoint(attempt) - this.#done(attempt)) / this.#rates.of(attempt.head.workload)
    const dueMs = Math.min(leftMs, this.#believed.msUntilEnd(attempt))
    const waitMs = Math.min(Math.max(minRevisionMs, dueMs), maxRevisionMs)
    attempt.reviseTimer = setTimeout(() => this.#revise(attempt), waitMs).unref()
  }

  #revise(attempt: AttemptState): void {
    const done = this.#done(attempt)
    const isRevised = this.#reviseIfDue(attempt, done)
    if (isRevised || this.#believed.isLate(attempt, done)) this.#sendProgress(attempt, done)
    if (isRevised) this.#choose()
    if (attempt.running) this.#planRevision(attempt)
  }

  /**
   * Returns true if the attempt's rank changed. The brain revises by the same rule when progress is reported, so `done`
   * must be exactly the reported number.
   */
  #reviseIfDue(attempt: AttemptState, done: number): boolean {
    if (!this.discipline.ranks || done < nextPoint(attempt)) return false
    revise(attempt, done)
    return true
  }

  #onWork(attempt: AttemptState): void {
    const { at: _, ...done } = attempt.run!.work()!
    if (attempt.progress?.passed(done)) {
      this.#sendProgress(attempt, done.work)
      if (this.#reviseIfDue(attempt, done.work)) this.#choose()
    }
    if (attempt.metrics?.passed(done))
      this.#options.send({ type: 'metrics', ...tokenOf(attempt.head), ...done })
  }

  /** The attempt starts or ceases to wait for input or output: its core is free, or it needs one again. */
  #onWaiting(attempt: AttemptState, waiting: boolean): void {
    attempt.waiting = waiting
    if (!this.discipline.bounded) return
    this.#sendProgress(attempt, this.#done(attempt), { waiting })
    this.#choose()
  }

  #sendProgress(attempt: AttemptState, done: number, news: { waiting?: boolean } = {}): void {
    this.#believed.mark(attempt, done)
    this.#options.send({ type: 'progress', ...tokenOf(attempt.head), done, ...news })
  }

  #done({ run }: AttemptState): number {
    if (!run) return 0
    return this.#options.meter === 'off' ? run.cpuMs() * this.#nominal : (run.work()?.work ?? 0)
  }

  /** CPU time that the attempt is expected to need from now on. */
  #remainingMs(attempt: AttemptState): number {
    const { expected, head, waiting } = attempt
    if (waiting) return Infinity
    return Math.max(0, expected - this.#done(attempt)) / this.#rates.of(head.workload)
  }

  #learn(attempt: AttemptState): void {
    if (this.#options.meter === 'off' || !attempt.run) return
    const { learned } = attempt
    attempt.learned = { work: this.#done(attempt), cpuMs: attempt.run.cpuMs() }
    const { work, cpuMs } = attempt.learned
    this.#rates.learn(attempt.head.workload, work - learned.work, cpuMs - learned.cpuMs)
  }
}
