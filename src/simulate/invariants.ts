/**
 * What must hold after every event, whatever goes wrong. The checks keep their own books from the events and
 * actions alone, so that a mistake in the brain's books cannot hide itself.
 */

import type { Brain } from '../brain/brain.ts'
import { InvariantError } from '../lib/errors.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { BrainView } from '../model/view.ts'
import type { Observer } from './environment.ts'

interface Watched {
  /** The attempt that counts, while one is in a worker's hands. */
  attempt: number
  worker: string | undefined
  /** It is in a function, which is its worker. */
  away: boolean
  /** It is in a worker's hands and has no core. */
  paused: boolean
  memoryMb: number
  safeToRepeat: boolean
}

export class Invariants implements Observer {
  readonly #bounded: boolean
  readonly #max: number
  readonly #functions: number
  readonly #live = new Map<string, Watched>()
  readonly #answered = new Set<string>()
  readonly #workers = new Map<
    string,
    { jobs: Set<string>; slots: number; memoryMb: number; draining: boolean; role?: string }
  >()
  #turns = 0
  /** Ends seen by rule, for the run's account. */
  readonly tally = {
    answers: 0,
    hungUp: 0,
    dropped: 0,
    /** Jobs that the policy dropped because they had waited too long. */
    late: 0,
    /** Nodes that were told their role, and those that asked to end and were not allowed to. */
    roles: 0,
    stays: 0,
    ranked: 0,
    launches: 0,
    givenUp: 0,
    strangers: 0,
    drained: 0,
    away: 0,
    awayFailed: 0,
  }

  /** `bounded`: the workers' discipline gives each running job a core to itself. `max`, `functions`: most of them. */
  constructor(bounded: boolean, max = Infinity, functions = Infinity) {
    this.#bounded = bounded
    this.#max = max
    this.#functions = functions
  }

  observe(event: Event, actions: readonly Action[], now: number, brain: Brain): void {
    this.#note(event)
    for (const action of actions) this.#check(event, action, now)
    this.#books(brain)
  }

  /** After all is over: nobody waits, nothing is left behind. */
  finally(brain: Brain): void {
    const view = brain.view()
    if (this.#live.size > 0) fail(`jobs without an answer: ${[...this.#live.keys()].slice(0, 5).join(', ')}`)
    if (view.jobs !== 0 || view.waiting.length !== 0 || view.placed !== 0 || view.away.length !== 0) {
      fail(`the brain still counts ${view.jobs} jobs, ${view.waiting.length} waiting, ${view.placed} placed`)
    }
    for (const worker of view.workers) {
      if (worker.jobs.length > 0 || worker.usedMemoryMb !== 0) {
        fail(
          `worker ${worker.id} is empty, but the brain counts ${worker.jobs.length} jobs and ${worker.usedMemoryMb} MB`,
        )
      }
    }
    if (view.turns.taken > 0 || view.turns.owed > 0)
      fail(`${view.turns.taken} turns are taken and ${view.turns.owed} are owed, and there are no jobs`)
    const { accepted, results, errors, refused, unknown, cancelled, dropped } = view.counters
    const ended = results + errors + refused + unknown + cancelled + dropped
    if (accepted !== ended) fail(`accepted ${accepted}, but ended ${ended}`)
  }

  #note(event: Event): void {
    if (event.type === 'arrived') {
      this.#live.set(event.job.id, {
        attempt: 0,
        worker: undefined,
        away: false,
        paused: false,
        memoryMb: event.job.memoryMb,
        safeToRepeat: event.job.safeToRepeat ?? true,
      })
    } else if (event.type === 'cancelled') {
      const job = this.#live.get(event.job)
      if (!job) return
      this.#release(event.job, job)
      this.#live.delete(event.job)
      this.tally.hungUp++
    } else if (event.type === 'joined' && !this.#workers.has(event.worker.id)) {
      const { id, slots, memoryMb } = event.worker
      this.#workers.set(id, { jobs: new Set(), slots, memoryMb, draining: false })
    }
  }

  #check(event: Event, action: Action, now: number): void {
    switch (action.type) {
      case 'run':
        return this.#started(action)
      case 'overflow':
        return this.#sentAway(action)
      case 'answer':
        return this.#answer(event, action, now)
      case 'wait': {
        const job = this.#live.get(action.job)
        if (!job) return fail(`job ${action.job} is over, but was put into the queue`)
        this.#release(action.job, job)
        return
      }
      case 'rank':
      case 'pause':
      case 'resume':
      case 'revise':
        return this.#changed(action)
      case 'retry':
        if (action.attempt !== this.#live.get(action.job)?.attempt)
          fail(`job ${action.job}: attempt ${action.attempt} is tried again, which is not the last`)
        if (this.#live.get(action.job)?.away) this.tally.awayFailed++
        return
      case 'drop':
        this.tally.dropped++
        return
      case 'launch':
        this.tally.launches++
        return
      case 'assign': {
        this.tally.roles++
        const worker = this.#workers.get(action.worker)
        if (worker?.role && worker.role !== action.role)
          fail(`worker ${action.worker} is a ${worker.role}, and was told to be a ${action.role}`)
        if (worker) worker.role = action.role
        return
      }
      case 'deny':
        this.tally.stays++
        return
      case 'abandon':
        if (action.reason.code === 'stranger') this.tally.strangers++
        else this.tally.givenUp++
        return
      case 'drain': {
        this.tally.drained++
        const worker = this.#workers.get(action.worker)
        if (worker) worker.draining = true
        return
      }
      case 'terminate': {
        // Its jobs are in nobody's hands any more: what it still says of them is superseded.
        for (const id of this.#workers.get(action.worker)?.jobs ?? []) {
          const job = this.#live.get(id)
          if (job?.worker === action.worker) job.worker = undefined
        }
        this.#workers.delete(action.worker)
        return
      }
    }
  }

  #started(run: AttemptToken & { worker: string }): void {
    const job = this.#live.get(run.job)
    if (!job) return fail(`job ${run.job} is over, but attempt ${run.attempt} was started`)
    const worker = this.#workers.get(run.worker)
    if (!worker) return fail(`job ${run.job} was sent to worker ${run.worker}, which is gone`)
    if (worker.role === 'front') fail(`job ${run.job} was sent to worker ${run.worker}, which is a front`)
    if (worker.draining) fail(`job ${run.job} was sent to worker ${run.worker}, which is draining`)
    if (run.attempt !== job.attempt + 1) {
      fail(`job ${run.job}: attempt ${run.attempt} follows attempt ${job.attempt}`)
    }
    this.#release(run.job, job)
    job.attempt = run.attempt
    job.worker = run.worker
    job.paused = false
    worker.jobs.add(run.job)
  }

  #sentAway({ job: id, attempt, function: name }: Extract<Action, { type: 'overflow' }>): void {
    const job = this.#live.get(id)
    if (!job) return fail(`job ${id} is over, but attempt ${attempt} was sent to a function`)
    if (attempt !== job.attempt + 1) fail(`job ${id}: attempt ${attempt} follows attempt ${job.attempt}`)
    if (!job.safeToRepeat) fail(`job ${id} must not be repeated, but was sent to a function`)
    this.#release(id, job)
    job.attempt = attempt
    job.worker = name
    job.away = true
    this.tally.away++
  }

  /** Only what runs can be paused, and only what was paused goes on. */
  #changed({
    type,
    job: id,
    attempt,
    worker,
  }: Extract<Action, { type: 'rank' | 'pause' | 'resume' | 'revise' }>): void {
    const job = this.#live.get(id)
    if (job?.attempt !== attempt || job.worker !== worker)
      return fail(`job ${id}: ${type} of attempt ${attempt} on ${worker}, which does not hold it`)
    if (type === 'rank') this.tally.ranked++
    if (type === 'rank' || type === 'revise') return
    const paused = type === 'pause'
    if (job.paused === paused) fail(`job ${id}: ${type}, but it is ${paused ? 'paused' : 'running'} already`)
    job.paused = paused
  }

  #release(id: string, job: Watched): void {
    if (job.worker !== undefined) this.#workers.get(job.worker)?.jobs.delete(id)
    job.worker = undefined
    job.away = false
  }

  #answer(event: Event, answer: Extract<Action, { type: 'answer' }>, now: number): void {
    const job = this.#live.get(answer.job)
    if (this.#answered.has(answer.job))
      fail(`job ${answer.job} was answered twice, the second time at ${now}`)
    if (!job) return fail(`job ${answer.job} was answered, but its client is gone`)
    if (answer.outcome === 'result' || answer.outcome === 'error') {
      if (event.type !== 'finished' && event.type !== 'failed') {
        return fail(`job ${answer.job} was answered with a ${answer.outcome} that nobody sent`)
      }
      if (event.job !== answer.job || event.attempt !== job.attempt || event.worker !== job.worker) {
        fail(
          `job ${answer.job}: the answer of superseded attempt ${event.attempt} on ${event.worker} was delivered; ` +
            `attempt ${job.attempt} on ${job.worker ?? 'nobody'} counts`,
        )
      }
    } else if (!answer.reason.code) fail(`job ${answer.job} was refused without a rule`)
    else if (answer.outcome === 'dropped') {
      this.tally.late++
      if (job.attempt > 0) fail(`job ${answer.job} was given to a worker, and dropped`)
    }
    this.#release(answer.job, job)
    this.#live.delete(answer.job)
    this.#answered.add(answer.job)
    this.tally.answers++
  }

  /** Turns are bounded. Where the fleet has become smaller since they were given, none is added. */
  #turnsOf({ turns: { taken, most }, leftBehind }: BrainView): void {
    if (taken < 0 || taken > Math.max(most, this.#turns))
      fail(`${taken} jobs have their turn, ${this.#turns} had before, and ${most} may`)
    this.#turns = taken
    const left = leftBehind()
    if (left) fail(`the brain remembers ${left}, which is over`)
  }

  /** Every job is in the queue, in a worker's hands or in a function's. */
  #awayOf({ away, jobs, waiting, placed }: BrainView): void {
    let count = 0
    for (const { away: isAway } of this.#live.values()) if (isAway) count++
    if (count > this.#functions) fail(`${count} jobs are in functions, of which there are ${this.#functions}`)
    if (away.length !== count) fail(`the brain counts ${away.length} jobs in functions, there are ${count}`)
    for (const { job, attempt } of away) {
      const watched = this.#live.get(job)
      if (!watched?.away || watched.attempt !== attempt)
        fail(`the brain has job ${job} in a function, it is not`)
    }
    if (placed < 0 || jobs !== waiting.length + placed + away.length)
      fail(`of ${jobs} jobs ${waiting.length} wait, ${placed} are placed and ${away.length} away`)
  }

  /** The brain's books against ours. */
  #books(brain: Brain): void {
    const view = brain.view()
    if (view.jobs !== this.#live.size)
      fail(`the brain counts ${view.jobs} jobs, there are ${this.#live.size}`)
    this.#turnsOf(view)
    this.#awayOf(view)
    let ready = 0
    for (const worker of view.workers) {
      if (worker.state === 'ready') ready++
      let used = 0
      for (const { job, running } of worker.jobs) {
        const watched = this.#live.get(job)
        if (watched?.worker !== worker.id)
          fail(`the brain has job ${job} on ${worker.id}, it is on ${watched?.worker ?? 'nobody'}`)
        if (this.#bounded && running === watched!.paused)
          fail(`the brain has job ${job} ${running ? 'running' : 'paused'}, and has not said so`)
        used += watched!.memoryMb
      }
      const ours = this.#workers.get(worker.id)!
      if (ours.jobs.size !== worker.jobs.length)
        fail(`worker ${worker.id}: the brain counts ${worker.jobs.length} jobs, there are ${ours.jobs.size}`)
      if (ours.jobs.size > ours.slots)
        fail(`worker ${worker.id} has ${ours.jobs.size} jobs in ${ours.slots} slots`)
      if (ours.jobs.size > 1 && used > ours.memoryMb)
        fail(`worker ${worker.id} was given ${used} MB of jobs and has ${ours.memoryMb} MB`)
      if (used !== worker.usedMemoryMb)
        fail(`worker ${worker.id}: the brain counts ${worker.usedMemoryMb} MB, its jobs need ${used}`)
    }
    if (ready !== view.ready) fail(`the brain counts ${view.ready} ready workers, there are ${ready}`)
    if (ready + view.booting.length > this.#max)
      fail(`${ready} workers are ready and ${view.booting.length} boot, ${this.#max} are allowed`)
    const idle = view.idleBeside()
    if (idle) fail(`job ${idle.job} waits while worker ${idle.worker}, which may take it, has nothing to do`)
  }
}

function fail(message: string): void {
  throw new InvariantError(message)
}
