/**
 * The brain in virtual time, with arrivals, a network, a provider and workers, all from one seed. The same seed gives
 * the same run, byte for byte.
 */

import type { Brain } from '../brain/brain.ts'
import { overflowSpec } from '../brain/functions/overflow-spec.ts'
import { LogWriter } from '../brain/log/log-writer.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { disciplines } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { Counters } from '../model/view.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { type BrainSpec, brainOf, type OwnPolicies } from '../systems/brain-spec.ts'
import { type Happening, rank, VirtualClock } from './clock.ts'
import type { Environment, FaultDraws, FleetSpec, Observer, Truth } from './environment.ts'
import { SimBrainProcess } from './sim-brain-process.ts'
import { SimFronts } from './sim-fronts.ts'
import { SimFunctions } from './sim-function.ts'
import { SimNode } from './sim-node.ts'
import { SimProvider } from './sim-provider.ts'
import { SimRequests } from './sim-requests.ts'
import type { TakeOver } from './take-over.ts'

export interface WorldParts {
  brain: BrainSpec
  /** Policies that replace those of the spec. */
  policies?: OwnPolicies
  seed: number
  fleet: FleetSpec
  faults?: FaultDraws
  /** Receives the event log in chunks. */
  log?: (chunk: Uint8Array) => void
  observer?: Observer
  /** Called when a client has its answer. */
  answered?: (truth: Truth, answer: Extract<Action, { type: 'answer' }>, now: number) => void
  /** Called after each event and its immediate consequences. */
  settled?: (world: World) => void
}

/** How a job fares. Default: it ends without waiting, and arrives without pressure. */
export interface SubmitOptions {
  fate?: Truth['fate']
  wait?: Truth['wait'] | undefined
  pressure?: number
}

export class World implements Environment {
  readonly clock = new VirtualClock()
  readonly nodes = new Map<string, SimNode>()
  readonly functions: SimFunctions | undefined
  readonly truths = new Map<string, Truth>()
  readonly parts: WorldParts
  readonly provider: SimProvider
  brain: Brain
  busyCores = 0
  readonly draining = new Set<string>()
  readonly fronts = new SimFronts(this)
  readonly process = new SimBrainProcess(this.clock, (event) => this.#handle(event))
  /** What fronts know of their requests. */
  readonly #requests = new SimRequests()
  /** Of brains that have died. */
  readonly pastCounters: Counters[] = []
  /** Results that fronts delivered without a brain. */
  answeredByFronts = 0
  /** Brains so far. */
  #brains = 1
  readonly #wake: Happening
  readonly #log: LogWriter | undefined

  constructor(parts: WorldParts) {
    this.parts = parts
    this.brain = brainOf(parts.brain, parts.policies)
    this.provider = new SimProvider(this, parts.seed)
    const { overflow } = parts.brain
    this.functions = overflow && new SimFunctions(this, overflowSpec(overflow))
    this.#wake = { item: () => this.tell({ type: 'tick' }), at: -1 }
    this.#log = parts.log && new LogWriter(parts.log)
    this.#log?.header(parts.brain)
  }

  /** The first tick: the brain launches its first workers. */
  begin(): void {
    this.tell({ type: 'tick' })
  }

  /** A job arrives now. */
  submit(asked: Job, size: number, { fate = 'ends', wait, pressure = 0 }: SubmitOptions = {}): void {
    const front = this.fronts.next()
    const job = front ? { ...asked, front: front.id } : asked
    this.truths.set(job.id, { job, size, arrivedAt: this.clock.now, fate, ...(wait && { wait }) })
    this.tell({ type: 'arrived', job, ...(pressure > 0 && { pressure }) })
    front?.requestArrived()
  }

  hangUp(id: string): void {
    if (this.truths.delete(id)) this.tell({ type: 'cancelled', job: id })
  }

  /** The brain dies, unless the last one has just died. The next one knows nothing until it is told. */
  takeOver({ downMs, frontMs, nodeMs }: TakeOver): void {
    if (this.process.isDead || !this.#requests.isUp) return
    this.process.die()
    this.pastCounters.push(this.brain.view().counters)
    this.#requests.isUp = false
    this.clock.cancel(this.#wake)
    const { now } = this.clock
    for (const node of this.nodes.values()) node.loseBrain(now + downMs + nodeMs())
    this.#brains++
    this.clock.at(now + downMs, rank.fault, () => this.#beginAgain())
    this.clock.at(now + downMs + frontMs, rank.fault, () => this.#announce())
  }

  #beginAgain(): void {
    const { brain, policies } = this.parts
    this.brain = brainOf({ ...brain, epoch: (brain.epoch ?? 1) + this.#brains - 1 }, policies)
    this.process.isDead = false
    this.parts.observer?.replaced?.()
    const joined = new Set([...this.nodes.values()].map(({ launch }) => launch))
    const launches = [...new Set(this.provider.launched())]
    this.tell({
      type: 'adopted',
      launches: launches.map((launch) => ({ launch, joined: joined.has(launch) })),
    })
    this.tell({ type: 'tick' })
  }

  /** Fronts tell the new brain of their requests, or answer them. */
  #announce(): void {
    this.#requests.isUp = true
    for (const truth of [...this.truths.values()]) {
      const { id } = truth.job
      const told = this.#requests.told(truth)
      for (const event of told ?? []) this.tell(event)
      if (told) continue
      this.truths.delete(id)
      this.answeredByFronts++
      this.parts.observer?.answeredByFront?.(id)
    }
  }

  tell(event: Event): void {
    const isEnd = event.type === 'finished' || event.type === 'failed'
    if (isEnd) this.#requests.ended(event)
    const isOfFront = isEnd || event.type === 'arrived' || event.type === 'cancelled'
    if (this.process.isDead || (isOfFront && !this.#requests.isUp)) return
    this.parts.observer?.arrived?.(event, this.clock.now)
    this.process.tell(event)
  }

  #handle(event: Event): void {
    const { now } = this.clock
    const actions = this.brain.handle(event, now)
    const { observer } = this.parts
    if (this.#log) this.#log.entry(now, event, actions)
    if (observer) observer.observe(event, actions, now, this.brain)
    for (const action of actions) this.#do(action)
    if (this.parts.settled) this.parts.settled(this)
  }

  /** Passes on the buffered rest of the log. */
  flushLog(): void {
    this.#log?.flush()
  }

  send(deliver: () => void): void {
    const { faults } = this.parts
    if (!faults) return deliver()
    for (const delayMs of faults.message()) this.clock.at(this.clock.now + delayMs, rank.message, deliver)
  }

  sendToBrain(deliver: () => void): void {
    const brain = this.#brains
    this.send(() => {
      if (brain === this.#brains) deliver()
    })
  }

  /** What an earlier brain has sent is lost once fronts have reached the next one: it was on a connection that has closed. */
  #sendToFront(deliver: () => void): void {
    const brain = this.#brains
    this.send(() => {
      if (brain === this.#brains || !this.#requests.isUp) deliver()
    })
  }

  boot(launch: string, id: string): SimNode {
    const { cores, workPerSecond, memoryMb, slots } = this.parts.fleet
    const facts: WorkerFacts = { id, cores, workPerSecond, memoryMb, slots }
    const node = new SimNode(this, facts, launch, disciplines[this.parts.brain.discipline])
    this.nodes.set(id, node)
    node.join()
    return node
  }

  #do(action: Action): void {
    switch (action.type) {
      case 'run': {
        const truth = this.truths.get(action.job)
        if (this.parts.faults) this.#sendToFront(() => this.#run(action, truth))
        else this.#run(action, truth)
        return
      }
      case 'overflow': {
        const truth = this.truths.get(action.job)
        this.send(() => this.functions?.invoke(action, truth))
        return
      }
      case 'go':
        this.#requests.going(action)
        this.send(() => this.nodes.get(action.worker)?.go(action))
        return
      case 'rank':
        this.send(() => this.nodes.get(action.worker)?.rank(action))
        return
      case 'cancel':
        this.send(() => {
          this.nodes.get(action.worker)?.cancel(action)
          this.functions?.cancel(action)
        })
        return
      case 'ping':
        this.send(() => this.nodes.get(action.worker)?.ping(action.ping))
        return
      case 'drain':
        if (this.nodes.has(action.worker)) this.draining.add(action.worker)
        return
      case 'assign':
        this.send(() => this.nodes.get(action.worker)?.assign(action))
        return
      case 'terminate':
        this.send(() => this.nodes.get(action.worker)?.die())
        return
      case 'answer': {
        const truth = this.truths.get(action.job)
        if (!truth) return
        this.truths.delete(action.job)
        this.parts.answered?.(truth, action, this.clock.now)
        return
      }
      case 'launch':
        this.provider.launch(action.launch)
        return
      case 'abandon':
        this.send(() => this.provider.end(action.launch))
        return
      case 'wake':
        this.clock.move(this.#wake, action.at, rank.tick)
        return
    }
  }

  #run(run: Extract<Action, { type: 'run' }>, truth: Truth | undefined): void {
    this.#requests.sent(run)
    const node = this.nodes.get(run.worker)
    if (node) node.run(run, truth)
    else this.#nobody(run)
  }

  /** A message for a process that has ended: the connection is refused, or nothing comes back. */
  #nobody({ epoch, job, attempt, worker }: AttemptToken & { worker: string }): void {
    if (this.parts.faults?.refuses() ?? true) {
      this.send(() => this.tell({ type: 'failed', kind: 'unreachable', epoch, job, attempt, worker }))
    }
  }
}
