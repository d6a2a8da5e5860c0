/**
 * Collects the stories of all open jobs and of the most recently finished ones from the brain's events and actions.
 * Stories hold codes and numbers; text is generated on request.
 */

import type { Quote } from '../estimate/estimator.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'
import { countTurn, dropEmptyResume, note, noteDrop, noteRank } from './notes.ts'
import { addEntry, enter, expectedWork, newStory, type Story } from './story.ts'
import { countPassing, leaveWorker, WorkerTallies } from './worker-tallies.ts'

export interface StoriesOptions {
  /** Number of finished jobs kept. Default 1,000. */
  finished?: number
  /** A job that is never evicted. */
  pinned?: string
  /** Facts about a job that the brain does not receive; called when the job arrives and when it ends. */
  known?(job: Job): { quote?: Quote; expectedMs?: number; cpuMs?: number | undefined } | undefined
}

type Of<T extends Action['type']> = Extract<Action, { type: T }>

export class Stories {
  readonly #options: StoriesOptions
  readonly #open = new Map<string, Story>()
  /** In order of completion. */
  readonly #finished = new Map<string, Story>()
  readonly #workers = new WorkerTallies()
  #waiting = 0

  constructor(options: StoriesOptions = {}) {
    this.#options = options
  }

  of(job: string): Story | undefined {
    return this.#open.get(job) ?? this.#finished.get(job)
  }

  /** Number of stories held. */
  get count(): { open: number; finished: number } {
    return { open: this.#open.size, finished: this.#finished.size }
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    if (event.type === 'arrived') this.#arrived(event.job, now)
    else if (event.type === 'joined') this.#workers.joined(event.worker)
    else if (event.type === 'cancelled') {
      const story = this.#open.get(event.job)
      if (story) this.#end(story, 'cancelled', { code: 'client-gone' }, now)
    }
    for (let i = 0; i < actions.length; i++) this.#did(actions[i]!, event, actions, now)
  }

  #arrived(job: Job, now: number): void {
    const story = newStory(job, now)
    const known = this.#options.known?.(job)
    story.quote = known?.quote
    story.countsMs = this.#workers.msFor(job.work)
    story.expectedMs = known?.expectedMs ?? story.countsMs
    const { work, low, high } = expectedWork(story)
    const reason: Reason = { code: 'estimated', work }
    if (low !== undefined && high !== undefined) Object.assign(reason, { low, high })
    if (story.expectedMs !== undefined) reason.expectedMs = story.expectedMs
    if (story.countsMs !== undefined) reason.countsMs = story.countsMs
    if (story.quote) reason.source = story.quote.source
    if (job.deadlineAt !== undefined) reason.deadlineMs = job.deadlineAt - now
    addEntry(story, { at: now, event: 'arrived', reason })
    this.#open.set(job.id, story)
  }

  #did(action: Action, event: Event, actions: readonly Action[], now: number): void {
    if (action.type === 'drain' || action.type === 'terminate') return this.#workers.leaves(action)
    const story = 'job' in action ? this.of(action.job) : undefined
    if (!story) return
    switch (action.type) {
      case 'wait':
        return this.#wait(story, action, now)
      case 'run':
      case 'adopt':
        return this.#run(story, action, now)
      case 'overflow':
        return this.#overflow(story, action, now)
      case 'pause':
        return this.#pause(story, action, now)
      case 'resume':
        return this.#resume(story, action, event, actions, now)
      case 'rank':
        return noteRank(story, action, now)
      case 'retry':
        return this.#retry(story, action, event, actions, now)
      case 'revise':
        return note(story, 'revise', action, action.reason, now)
      case 'go':
        return note(story, 'go', action, { code: 'go' }, now)
      case 'drop':
        return noteDrop(story, action, now)
      case 'answer':
        if (event.type === 'finished' && event.job === action.job) story.work = event.work
        return this.#end(story, action.outcome, action.reason, now)
    }
  }

  #wait(story: Story, { reason }: Of<'wait'>, now: number): void {
    const before = story.queued
    // The decision was repeated with the same result.
    if (before?.code === reason.code) return
    const waiting = before ? this.#waiting - 1 : this.#waiting++
    const facts: Reason = { ...reason, waiting, workers: this.#workers.ready }
    if (story.countsMs !== undefined) facts.needMs = story.countsMs / (story.job.speed?.expected ?? 1)
    story.queued = facts
    addEntry(story, { at: now, event: 'wait', reason: facts })
    if (!before) enter(story, 'waiting', now)
  }

  #run(story: Story, action: Of<'run'> | Of<'adopt'>, now: number): void {
    const facts: Reason = { ...action.reason, workers: this.#workers.ready }
    const waitedMs = this.#leaveQueue(story, 'running', now)
    if (waitedMs > 0) facts.waitedMs = waitedMs
    const tally = this.#workers.of(action.worker)
    if (tally) {
      facts.idle = tally.idle
      story.beside = tally.held++
      story.workPerSecond = tally.workPerSecond
    }
    if (facts.code === 'goes-first') countTurn(story, facts, now)
    countPassing(tally, 1)
    story.tally = tally
    story.worker = action.worker
    story.attempt = action.attempt
    note(story, 'run', action, facts, now)
  }

  /** A function runs one job at a time, so nothing is beside it. */
  #overflow(story: Story, action: Of<'overflow'>, now: number): void {
    const { attempt, function: worker, reason } = action
    const waitedMs = this.#leaveQueue(story, 'running', now)
    Object.assign(story, { worker, attempt, tally: undefined, beside: 0, workPerSecond: 0 })
    note(story, 'overflow', { attempt, worker }, { ...reason, ...(waitedMs > 0 && { waitedMs }) }, now)
  }

  #pause(story: Story, action: Of<'pause'>, now: number): void {
    const { reason } = action
    if (story.tally) story.tally.idle++
    if (reason.code === 'no-core') {
      // It was just sent there but does not run, so it has not passed any paused job.
      countPassing(story.tally, -1)
      const sent = story.entries.at(-1)
      if (sent?.event === 'run') sent.reason.queued = 1
      enter(story, 'behind', now)
      return note(story, 'pause', action, reason, now)
    }
    story.tally?.preempted.add(story)
    enter(story, 'paused', now)
    // The previous pause continues.
    if (dropEmptyResume(story, now)) return
    story.pauses++
    story.pausedFrom = now
    // After it waited for input or output, jobs that run already have the cores.
    if (reason.by === undefined) story.passedBy++
    if (!(Number(reason.needMs) < Number(reason.leftMs))) story.onlyByShorter = false
    note(story, 'pause', action, this.#withWorkload(story, { ...reason }, reason.by), now)
  }

  #resume(story: Story, action: Of<'resume'>, event: Event, actions: readonly Action[], now: number): void {
    const { tally, since } = story
    if (tally) {
      tally.idle--
      tally.preempted.delete(story)
    }
    // Jobs preempted after this one have not been passed by it yet.
    countPassing(tally, 1, since)
    const paused = story.state === 'paused'
    enter(story, 'running', now)
    const facts: Reason = { ...action.reason, pausedMs: now - (paused ? story.pausedFrom : since) }
    if (!paused) facts.code = 'core-at-last'
    if ('attempt' in event && event.job !== action.job && facts.first === undefined) {
      const longer = actions.some(
        ({ type, ...about }) => type === 'revise' && 'job' in about && about.job === event.job,
      )
      facts.after = event.job
      facts.afterEvent = longer ? 'outgrew' : event.type
    }
    note(story, 'resume', action, this.#withWorkload(story, facts, facts.after), now)
  }

  #retry(story: Story, action: Of<'retry'>, event: Event, actions: readonly Action[], now: number): void {
    const facts: Reason = { ...action.reason }
    if (event.type === 'failed' && event.message) facts.message = event.message
    const lost = actions.find(
      (other): other is Of<'terminate'> => other.type === 'terminate' && other.worker === action.worker,
    )
    if (lost?.reason.silentMs !== undefined) facts.silentMs = lost.reason.silentMs
    else if (lost?.reason.message) facts.message = lost.reason.message
    dropEmptyResume(story, now)
    leaveWorker(story)
    enter(story, 'waiting', now)
    story.ms.lost += story.ms.running
    facts.ranMs = story.ms.running
    story.ms.running = 0
    story.lostAttempts++
    note(story, 'retry', action, facts, now)
    const entry = story.entries.at(-1)!
    story.firstLost ??= entry
    if (facts.code === 'unreachable') this.#workers.connectionBroke(action.worker, entry)
  }

  /** Returns the time since it was last queued. */
  #leaveQueue(story: Story, state: Story['state'], now: number): number {
    const ms = enter(story, state, now)
    const reason = story.queued
    if (!reason) return 0
    story.queued = undefined
    this.#waiting--
    if (ms >= (story.longestWait?.ms ?? 0)) story.longestWait = { ms, reason }
    return ms
  }

  #end(story: Story, outcome: NonNullable<Story['outcome']>, reason: Reason, now: number): void {
    leaveWorker(story)
    this.#leaveQueue(story, 'over', now)
    story.outcome = outcome
    story.endReason = reason
    const { id } = story.job
    story.cpuMs = this.#options.known?.(story.job)?.cpuMs
    addEntry(story, { at: now, event: outcome === 'cancelled' ? outcome : 'answer', reason })
    this.#open.delete(id)
    this.#finished.set(id, story)
    if (this.#finished.size > (this.#options.finished ?? 1_000)) this.#evictOldest()
  }

  #evictOldest(): void {
    for (const id of this.#finished.keys()) {
      if (id === this.#options.pinned) continue
      this.#finished.delete(id)
      return
    }
  }

  /** Adds the other job's workload if it differs. */
  #withWorkload(story: Story, facts: Reason, other: Reason[string] | undefined): Reason {
    const workload = other === undefined ? undefined : this.of(String(other))?.job.workload
    if (workload !== undefined && workload !== story.job.workload) facts.workload = workload
    return facts
  }
}
