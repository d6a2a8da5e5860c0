/** A simulated worker process: a `SimWorker` with a connection to the brain, which can freeze, slow down and die. */

import type { Action } from '../model/action.ts'
import type { AttemptToken, HeldAttempt } from '../model/attempt.ts'
import type { Discipline } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { Precedence } from '../model/job.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { type Happening, rank } from './clock.ts'
import { endOf, keyOf, tokenOf } from './sim-attempt.ts'
import { SimBusy } from './sim-busy.ts'
import { SimTier } from './sim-tier.ts'
import { newSimJob, type SimJob, SimWorker, type SimWorkerEvents } from './sim-worker.ts'
import type { Truth, World } from './world.ts'

export class SimNode implements SimWorkerEvents {
  readonly worker: SimWorker
  readonly launch: string
  readonly #world: World
  /** Attempts that wait for permission to start. */
  readonly #asking = new Map<string, SimJob>()
  /** Every attempt that ever asked: however often its message comes, it asks once. */
  readonly #asked = new Set<string>()
  /** Precedences that overtook their attempts. */
  readonly #early = new Map<string, Precedence>()
  /** Ends of attempts that the brain has not yet acknowledged. */
  readonly #unheard = new Map<string, Event & AttemptToken>()
  readonly #beat: Happening
  /** Where there are tiers, once it was told its role. */
  #tier: SimTier | undefined
  #seq = 0
  readonly #busy: SimBusy
  #dead = false
  #joined = false
  /** While frozen, what came in and was not read. */
  #inbox: (() => void)[] | undefined

  constructor(world: World, facts: WorkerFacts, launch: string, discipline: Discipline) {
    this.#world = world
    this.launch = launch
    this.#busy = new SimBusy(world.clock)
    this.worker = new SimWorker(facts, discipline, world.clock, this)
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
    this.#world.send(() => {
      this.#joined = true
      this.#world.tell(joined)
    })
    this.#plan()
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
      this.#unheard.delete(keyOf(token))
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

  /** However often it is told. */
  assign(action: Extract<Action, { type: 'assign' }>): void {
    this.#read(() => {
      if (this.#tier || this.#dead) return
      this.#tier = new SimTier(action, this.#world.clock, (ask) =>
        this.#say({ type: 'leave-requested', worker: this.id, ...ask }),
      )
      if (action.role === 'front') this.#world.fronts.add(this)
    })
  }

  /** Of a front: a request has come in here. */
  cameThrough(): void {
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

  busied(change: number): void {
    this.#world.busyCores += change
    this.#busy.change(change)
  }

  /** The process is gone, with all that it held. Idempotent. */
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
      this.#world.send(() =>
        this.#world.tell({ type: 'lost', worker: this.id, message: 'connection closed' }),
      )
    }
  }

  /** It stops, and hears nothing until it thaws. */
  freeze(): void {
    this.#inbox ??= []
    this.worker.setSpeed(0)
    this.#world.clock.cancel(this.#beat)
    this.#tier?.stop()
  }

  /** It goes on as if nothing had happened: a zombie, if the brain has given it up. */
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
    // Without a truth the client has hung up in the meantime: the cancellation is on its way.
    if (!truth || (this.#world.parts.faults && this.#knows(token))) return
    const job = newSimJob(token, truth, this.#early.get(keyOf(token)) ?? token.precedence)
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

  #holds(): void {
    this.#tier?.holds(this.worker.jobs.length + this.#asking.size)
  }

  /** A doubled message: the attempt is here, or was done and has not been heard of. */
  #knows(token: AttemptToken): boolean {
    const key = keyOf(token)
    return this.#find(token) !== undefined || this.#unheard.has(key) || this.#asked.has(key)
  }

  #report(): void {
    if (!this.#joined) return this.join()
    const seq = ++this.#seq
    const role = this.#tier && { role: this.#tier.role }
    this.#say({ type: 'reported', worker: this.id, seq, held: this.#held(), cpuMs: this.#busy.ms, ...role })
    for (const job of this.#asking.values()) this.#say({ type: 'ready', ...tokenOf(job), worker: this.id })
    for (const end of this.#unheard.values()) this.#deliverEnd(end)
    this.#plan()
  }

  #plan(): void {
    const { beatMs } = this.#world.parts.brain.limits
    if (beatMs && !this.#inbox && !this.#dead) {
      this.#world.clock.move(this.#beat, this.#world.clock.now + beatMs, rank.message)
    }
  }

  /** What is in its hands: jobs, those that ask, and ends that were not heard. */
  #held(): HeldAttempt[] {
    const jobs = this.worker.jobs.map((job) => ({ ...tokenOf(job), done: this.worker.doneBy(job) }))
    const others = [...this.#asking.values(), ...this.#unheard.values()].map(tokenOf)
    return [...jobs, ...others]
  }

  #end(end: Event & AttemptToken): void {
    if (!this.#world.parts.faults) return this.#world.tell(end)
    this.#unheard.set(keyOf(end), end)
    this.#deliverEnd(end)
  }

  #deliverEnd(end: Event & AttemptToken): void {
    this.#world.send(() => {
      this.#world.tell(end)
      this.#world.send(() => this.#read(() => this.#unheard.delete(keyOf(end))))
    })
  }

  #say(event: Event): void {
    if (!this.#world.parts.faults) return this.#world.tell(event)
    this.#world.send(() => this.#world.tell(event))
  }

  /** Handles what came in: now, or after the thaw. */
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
