/** A simulated worker process: a `SimWorker` with a connection to the brain. It can freeze, slow down and die. */

import type { Action } from '../model/action.ts'
import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import type { Discipline } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { Precedence } from '../model/job.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { type Happening, rank } from './clock.ts'
import type { Environment, Process, Truth } from './environment.ts'
import { endOf, keyOf, tokenOf } from './sim-attempt.ts'
import { SimBusy } from './sim-busy.ts'
import { newSimJob, type SimJob } from './sim-job.ts'
import { SimTier } from './sim-tier.ts'
import { SimWorker, type SimWorkerEvents } from './sim-worker.ts'

export class SimNode implements SimWorkerEvents, Process {
  readonly worker: SimWorker
  readonly launch: string
  broken = false
  readonly #world: Environment
  /** Attempts that wait for `go`. */
  readonly #asking = new Map<string, SimJob>()
  /** Every attempt that has asked for `go`, to recognise duplicates. */
  readonly #asked = new Set<string>()
  /** Precedences that arrived before their attempts. */
  readonly #early = new Map<string, Precedence>()
  /** Ends of attempts that the brain has not yet acknowledged. */
  readonly #unacknowledged = new Map<string, Event & AttemptToken>()
  readonly #beat: Happening
  /** Set once a role is assigned. */
  #tier: SimTier | undefined
  #seq = 0
  readonly #busy: SimBusy
  #dead = false
  #joined = false
  /** Unread messages while frozen. */
  #inbox: (() => void)[] | undefined

  constructor(world: Environment, facts: WorkerFacts, launch: string, discipline: Discipline) {
    this.#world = world
    this.launch = launch
    this.#busy = new SimBusy(world.clock)
    this.worker = new SimWorker(facts, discipline, world.clock, this, world.parts.fleet.slotStart)
    this.#beat = { item: () => this.#report(), at: -1 }
  }

  get id(): string {
    return this.worker.facts.id
  }

  get alive(): boolean {
    return !this.#dead
  }

  join(): void {
    const { facts } = this.worker
    const joined: Event = {
      type: 'joined',
      worker: facts,
      launch: this.launch,
      seq: ++this.#seq,
      held: this.#held(),
    }
    this.#world.sendToBrain(() => {
      this.#joined = true
      this.#world.tell(joined)
    })
    this.#plan()
  }

  loseBrain(joinsAt: number): void {
    this.#joined = false
    if (!this.#inbox && !this.#dead) this.#world.clock.move(this.#beat, joinsAt, rank.message)
  }

  run(run: Extract<Action, { type: 'run' }>, truth: Truth | undefined): void {
    if (this.#inbox) this.#inbox.push(() => this.#begin(run, truth))
    else this.#begin(run, truth)
  }

  go(token: AttemptToken): void {
    this.#read(() => {
      const job = this.#asking.get(keyOf(token))
      if (!job) return
      this.#asking.delete(keyOf(token))
      this.#world.parts.faults?.started(token)
      this.worker.add(job)
    })
  }

  cancel(token: AttemptToken): void {
    this.#read(() => {
      this.#asking.delete(keyOf(token))
      this.#unacknowledged.delete(keyOf(token))
      const job = this.#find(token)
      if (job) this.worker.remove(job)
      this.#holds()
    })
  }

  rank(action: Extract<Action, { type: 'rank' }>): void {
    this.#read(() => {
      const job = this.#find(action) ?? this.#asking.get(keyOf(action))
      if (job) this.worker.rank(job, action.precedence)
      else this.#early.set(keyOf(action), action.precedence)
    })
  }

  assign(action: Extract<Action, { type: 'assign' }>): void {
    this.#read(() => {
      if (this.#tier || this.#dead) return
      this.#tier = new SimTier(action, this.#world.clock, (ask) =>
        this.#say({ type: 'leave-requested', worker: this.id, ...ask }),
      )
      if (action.role === 'front') this.#world.fronts.add(this)
    })
  }

  ping(number: number): void {
    this.#read(() => {
      if (!this.#dead) this.#say({ type: 'pong', worker: this.id, ping: number })
    })
  }

  requestArrived(): void {
    this.#tier?.arrived()
  }

  finished(job: SimJob): void {
    this.#holds()
    const end = endOf(job, this.id)
    if (end) this.#end(end)
    else this.die()
  }

  overran(job: SimJob, done: number): void {
    const { epoch, job: id, attempt } = job
    this.#say({ type: 'progressed', epoch, job: id, attempt, worker: this.id, done })
  }

  /** As real workers, it reports this only where it decides which jobs run. */
  waited(job: SimJob, done: number): void {
    if (!this.worker.bounded) return
    const { epoch, job: id, attempt, waiting } = job
    this.#read(() =>
      this.#say({ type: 'progressed', epoch, job: id, attempt, worker: this.id, done, waiting }),
    )
  }

  busied(change: number): void {
    this.#world.busyCores += change
    this.#busy.change(change)
  }

  /** Ends the process and all its attempts. Idempotent. */
  die(): void {
    if (this.#dead) return
    this.#dead = true
    this.worker.end()
    this.#world.clock.cancel(this.#beat)
    this.#tier?.stop()
    this.#world.nodes.delete(this.id)
    if (this.#tier?.role === 'front') this.#world.fronts.gone(this)
    this.#world.draining.delete(this.id)
    this.#world.provider.died(this)
    if (this.#world.parts.faults?.noticesDeath() ?? true) {
      this.#world.sendToBrain(() =>
        this.#world.tell({ type: 'lost', worker: this.id, message: 'connection closed' }),
      )
    } else if (this.#world.parts.faults?.refuses()) {
      this.#world.sendToBrain(() => this.#world.tell({ type: 'disconnected', worker: this.id }))
    }
  }

  /** Stops the process; messages wait until it thaws. */
  freeze(): void {
    this.#inbox ??= []
    this.worker.setSpeed(0)
    this.#world.clock.cancel(this.#beat)
    this.#tier?.stop()
  }

  /** Continues as if nothing had happened: a zombie if the brain has declared it lost. */
  thaw(): void {
    const inbox = this.#inbox
    if (!inbox || this.#dead) return
    this.#inbox = undefined
    this.worker.setSpeed(1)
    this.#plan()
    this.#tier?.plan()
    for (const message of inbox) if (!this.#dead) message()
  }

  get frozen(): boolean {
    return this.#inbox !== undefined
  }

  #begin(token: Extract<Action, { type: 'run' }>, truth: Truth | undefined): void {
    // Without a truth the client has hung up, and the cancellation follows.
    if (!truth || (this.#world.parts.faults && this.#knows(token))) return
    if (this.broken) return this.#fail(token)
    const job = newSimJob(token, truth, this.worker.facts, this.#early.get(keyOf(token)))
    if (truth.job.safeToRepeat !== false) this.worker.add(job)
    else {
      this.#asked.add(keyOf(token))
      this.#asking.set(keyOf(token), job)
      this.#say({ type: 'ready', ...tokenOf(job), worker: this.id })
    }
    if (!this.#tier) return
    this.#holds()
    this.#tier.arrived()
  }

  #fail(token: AttemptToken): void {
    const { clock } = this.#world
    const end: Event & AttemptToken = { type: 'failed', ...tokenOf(token), worker: this.id, kind: 'crash' }
    clock.at(clock.now + 1, rank.worker, () => {
      if (!this.#dead) this.#read(() => this.#end(end))
    })
  }

  #holds(): void {
    this.#tier?.holds(this.worker.jobs.length + this.#asking.size)
  }

  /** True: a duplicate; the attempt is here, or has ended without an acknowledgement. */
  #knows(token: AttemptToken): boolean {
    const key = keyOf(token)
    return this.#find(token) !== undefined || this.#unacknowledged.has(key) || this.#asked.has(key)
  }

  #report(): void {
    if (!this.#joined) return this.join()
    const seq = ++this.#seq
    const state = { ...(this.#tier && { role: this.#tier.role }), ...this.worker.slots?.report() }
    this.#say({ type: 'reported', worker: this.id, seq, held: this.#held(), cpuMs: this.#busy.ms, ...state })
    for (const job of this.#asking.values()) this.#say({ type: 'ready', ...tokenOf(job), worker: this.id })
    for (const end of this.#unacknowledged.values()) this.#deliverEnd(end)
    this.#plan()
  }

  #plan(): void {
    const { beatMs } = this.#world.parts.brain.limits
    if (beatMs && !this.#inbox && !this.#dead) {
      this.#world.clock.move(this.#beat, this.#world.clock.now + beatMs, rank.message)
    }
  }

  /** Attempts that run, that wait for `go`, and whose ends are not acknowledged. */
  #held(): HeldAttempt[] {
    const jobs = this.worker.jobs.map((job) => ({
      ...tokenOf(job),
      done: this.worker.doneBy(job),
      ...(job.waiting && { waiting: true as const }),
      ...this.#activity(job),
    }))
    const others = [...this.#asking.values(), ...this.#unacknowledged.values()].map(tokenOf)
    return [...jobs, ...others]
  }

  /** Only faults make jobs stand still. A job gets CPU time as fast as it does its work. */
  #activity(job: SimJob): Pick<HeldAttempt, 'activeMs' | 'cpuMs'> | undefined {
    const { faults, brain } = this.#world.parts
    if (!faults || !brain.limits.stalls) return undefined
    const cpuMs = (this.worker.doneBy(job) / this.worker.facts.workPerSecond) * 1000
    return { activeMs: this.worker.activeBy(job), cpuMs }
  }

  #end(end: Event & AttemptToken): void {
    if (!this.#world.parts.faults) return this.#world.tell(end)
    this.#unacknowledged.set(keyOf(end), end)
    this.#deliverEnd(end)
  }

  #deliverEnd(end: Event & AttemptToken): void {
    this.#world.send(() => {
      this.#world.tell(end)
      this.#world.send(() => this.#read(() => this.#unacknowledged.delete(keyOf(end))))
    })
  }

  #say(event: Event): void {
    if (!this.#joined) return
    if (!this.#world.parts.faults) return this.#world.tell(event)
    this.#world.sendToBrain(() => this.#world.tell(event))
  }

  /** Handles a message now, or after the thaw. */
  #read(message: () => void): void {
    if (this.#inbox) this.#inbox.push(message)
    else message()
  }

  #find({ job, attempt, epoch }: AttemptToken): SimJob | undefined {
    return this.worker.jobs.find(
      (held) => held.job === job && held.attempt === attempt && held.epoch === epoch,
    )
  }
}
