/**
 * What must hold after every event, under any fault. The checks keep their own account from events and actions
 * alone, so that a mistake in the brain's state cannot hide itself.
 */

import type { Brain } from '../brain/brain.ts'
import type { BrainLimits } from '../brain/limits.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Observer } from './environment.ts'
import { fail, newTally, type Watched, type WatchedWorker } from './invariant-account.ts'
import { LossInvariants } from './invariants-losses.ts'
import { type InvariantLimits, ViewInvariants } from './invariants-view.ts'

export class Invariants implements Observer {
  readonly #live = new Map<string, Watched>()
  readonly #answered = new Set<string>()
  readonly #workers = new Map<string, WatchedWorker>()
  #view: ViewInvariants
  #losses: LossInvariants
  readonly #fresh: () => { view: ViewInvariants; losses: LossInvariants }
  /** Jobs that the brain before knew, and of which this one has not been told. */
  readonly #untold = new Set<string>()
  readonly tally = newTally()

  /** Default: without limits. */
  constructor({
    bounded,
    max = Infinity,
    functions = Infinity,
    limits = {},
  }: Pick<InvariantLimits, 'bounded'> & Partial<InvariantLimits> & { limits?: Partial<BrainLimits> }) {
    const account = { live: this.#live, workers: this.#workers }
    this.#fresh = () => ({
      view: new ViewInvariants(account, { bounded, max, functions }),
      losses: new LossInvariants(limits),
    })
    const { view, losses } = this.#fresh()
    this.#view = view
    this.#losses = losses
  }

  replaced(): void {
    const { view, losses } = this.#fresh()
    this.#view = view
    this.#losses = losses
    for (const job of this.#live.keys()) this.#untold.add(job)
    this.#live.clear()
    this.#workers.clear()
  }

  answeredByFront(job: string): void {
    if (this.#answered.has(job)) fail(`job ${job} was answered twice, the second time by its front`)
    this.#answered.add(job)
    this.#untold.delete(job)
    this.tally.answers++
  }

  arrived(event: Event, now: number): void {
    this.#losses.arrived(event, now)
  }

  observe(event: Event, actions: readonly Action[], now: number, brain: Brain): void {
    this.#note(event)
    this.#losses.observe(event, actions, now)
    for (const action of actions) this.#check(event, action, now)
    if (event.type === 'arrived' && event.pressure === 1 && !this.#answered.has(event.job.id))
      fail(`job ${event.job.id} was accepted under full pressure`)
    this.#view.check(brain.view())
  }

  /** After the run: every job has its answer, and the brain keeps no state of any. */
  finally(brain: Brain): void {
    const view = brain.view()
    if (this.#live.size > 0) fail(`jobs without an answer: ${[...this.#live.keys()].slice(0, 5).join(', ')}`)
    if (view.jobs !== 0 || view.waiting.length !== 0 || view.placed !== 0 || view.away.length !== 0) {
      fail(
        `the brain still counts ${view.jobs} jobs, ${view.waiting.length} queued, ${view.placed} on workers`,
      )
    }
    for (const worker of view.workers) {
      if (worker.jobs.length > 0 || worker.usedMemoryMb !== 0) {
        fail(
          `worker ${worker.id} is empty, but the brain counts ${worker.jobs.length} jobs and ${worker.usedMemoryMb} MB`,
        )
      }
    }
    if (view.turns.taken > 0 || view.turns.owed > 0)
      fail(`${view.turns.taken} turns are taken and ${view.turns.owed} owed, but no jobs are left`)
    const { accepted, results, errors, refused, unknown, cancelled, dropped } = view.counters
    const ended = results + errors + refused + unknown + cancelled + dropped
    if (accepted !== ended) fail(`${accepted} jobs were accepted, but ${ended} ended`)
  }

  #note(event: Event): void {
    if (event.type === 'arrived') {
      if (this.#answered.has(event.job.id)) fail(`job ${event.job.id} arrived again after its answer`)
      this.#untold.delete(event.job.id)
      this.#live.set(event.job.id, {
        attempt: event.on?.attempt ?? 0,
        worker: undefined,
        away: false,
        paused: false,
        memoryMb: event.job.memoryMb,
        safeToRepeat: event.job.safeToRepeat ?? true,
        adopted: false,
      })
    } else if (event.type === 'cancelled') {
      const job = this.#live.get(event.job)
      if (!job) return
      this.#release(event.job, job)
      this.#live.delete(event.job)
      this.tally.hungUp++
    } else if (event.type === 'paused') this.tally.pauses++
    else if (event.type === 'joined' && !this.#workers.has(event.worker.id)) {
      const { id, slots, memoryMb } = event.worker
      const jobs = new Set([...this.#live].flatMap(([job, { worker }]) => (worker === id ? [job] : [])))
      this.#workers.set(id, { jobs, slots, memoryMb, draining: false, ejected: false })
    }
  }

  #check(event: Event, action: Action, now: number): void {
    switch (action.type) {
      case 'run':
        return this.#started(action)
      case 'adopt':
        return this.#adopted(action)
      case 'overflow':
        return this.#sentToFunction(action)
      case 'answer':
        return this.#answer(event, action, now)
      case 'wait': {
        const job = this.#live.get(action.job)
        if (!job) return fail(`job ${action.job} has ended, but was queued`)
        this.#release(action.job, job)
        return
      }
      case 'rank':
      case 'pause':
      case 'resume':
      case 'revise':
        return this.#checkChange(action)
      case 'retry':
        if (action.attempt !== this.#live.get(action.job)?.attempt)
          fail(`job ${action.job}: attempt ${action.attempt} is retried, but is not the latest`)
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
          fail(`worker ${action.worker} is a ${worker.role}, but was assigned the role ${action.role}`)
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
      case 'hold':
        this.tally.held++
        return
      case 'eject':
        this.tally.ejected++
        return this.#eject(action.worker, true)
      case 'readmit':
        return this.#eject(action.worker, false)
      case 'terminate':
        return this.#terminated(action)
    }
  }

  #terminated({ worker: id, reason }: Extract<Action, { type: 'terminate' }>): void {
    // A worker that may not join takes nothing over from one with its id.
    const isRefused = reason.code === 'not-expected'
    // Later messages about its jobs are superseded.
    for (const job of this.#workers.get(id)?.jobs ?? []) {
      const watched = this.#live.get(job)
      if (watched?.worker === id && !isRefused) watched.worker = undefined
    }
    this.#workers.delete(id)
  }

  #started(run: AttemptToken & { worker: string }): void {
    const job = this.#live.get(run.job)
    if (!job) return fail(`job ${run.job} has ended, but attempt ${run.attempt} was started`)
    const worker = this.#workers.get(run.worker)
    if (!worker)
      return fail(`job ${run.job} was sent to worker ${run.worker}, which was terminated or never joined`)
    if (worker.role === 'front') fail(`job ${run.job} was sent to worker ${run.worker}, which is a front`)
    if (worker.ejected) fail(`job ${run.job} was sent to worker ${run.worker}, which is ejected`)
    if (worker.draining) fail(`job ${run.job} was sent to worker ${run.worker}, which is draining`)
    if (run.attempt !== job.attempt + 1)
      fail(`job ${run.job}: attempt ${run.attempt} follows attempt ${job.attempt}`)
    this.#release(run.job, job)
    job.attempt = run.attempt
    job.worker = run.worker
    job.paused = false
    job.adopted = false
    worker.jobs.add(run.job)
  }

  /** Only a job that arrives can be adopted, and it is not sent anywhere. */
  #adopted({ job: id, attempt, worker }: Extract<Action, { type: 'adopt' }>): void {
    const job = this.#live.get(id)
    if (!job || job.attempt !== attempt || job.worker !== undefined)
      return fail(`job ${id} was adopted, but did not just arrive with attempt ${attempt}`)
    Object.assign(job, { worker, adopted: true })
    this.#workers.get(worker)?.jobs.add(id)
    this.tally.adopted++
  }

  #eject(id: string, ejected: boolean): void {
    const worker = this.#workers.get(id)
    if (!worker) return fail(`worker ${id} was ${ejected ? 'ejected' : 'readmitted'}, but has ended`)
    if (worker.ejected === ejected) fail(`worker ${id} was ${ejected ? 'ejected' : 'readmitted'} twice`)
    worker.ejected = ejected
  }

  #sentToFunction({ job: id, attempt, function: name }: Extract<Action, { type: 'overflow' }>): void {
    const job = this.#live.get(id)
    if (!job) return fail(`job ${id} has ended, but attempt ${attempt} was sent to a function`)
    if (attempt !== job.attempt + 1) fail(`job ${id}: attempt ${attempt} follows attempt ${job.attempt}`)
    if (!job.safeToRepeat) fail(`job ${id} is not safe to repeat, but was sent to a function`)
    this.#release(id, job)
    job.attempt = attempt
    job.worker = name
    job.away = true
    this.tally.away++
  }

  /** Only a running job can be paused, and only a paused job can be resumed. */
  #checkChange({
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
    if (job.paused === paused) fail(`job ${id}: ${type}, but it is already ${paused ? 'paused' : 'running'}`)
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
    if (!job) return fail(`job ${answer.job} was answered, but its client has hung up`)
    if (answer.outcome === 'result' || answer.outcome === 'error') {
      if (event.type !== 'finished' && event.type !== 'failed') {
        return fail(`job ${answer.job} was answered with a ${answer.outcome} that no attempt sent`)
      }
      if (event.job !== answer.job || event.attempt !== job.attempt || event.worker !== job.worker) {
        fail(
          `job ${answer.job}: the answer of superseded attempt ${event.attempt} on ${event.worker} was delivered; ` +
            `attempt ${job.attempt} on ${job.worker ?? 'no worker'} is current`,
        )
      }
    } else if (answer.reason.code === 'overloaded') {
      this.tally.shed++
      if (event.type !== 'arrived' || event.job.id !== answer.job || !event.pressure)
        fail(`job ${answer.job} was shed, but did not arrive under pressure`)
    } else if (!answer.reason.code) fail(`job ${answer.job} was rejected without a reason`)
    else if (answer.outcome === 'dropped') {
      this.tally.late++
      if (job.attempt > 0) fail(`job ${answer.job} was dropped after it was given to a worker`)
    }
    this.#release(answer.job, job)
    this.#live.delete(answer.job)
    this.#answered.add(answer.job)
    this.tally.answers++
  }
}
