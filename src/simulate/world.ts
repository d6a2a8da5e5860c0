/**
 * The brain in virtual time: arrivals, a network, a provider of workers and the workers themselves, all from
 * one seed. The same seed gives the same run, byte for byte.
 */

import type { Brain } from '../brain/brain.ts'
import { overflowSpec } from '../brain/functions/overflow-spec.ts'
import { LogWriter } from '../brain/log/log-writer.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { disciplines } from '../model/discipline.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { type BrainSpec, brainOf } from '../systems/brain-spec.ts'
import { type Happening, rank, VirtualClock } from './clock.ts'
import type { Faults } from './faults.ts'
import { SimFronts } from './sim-fronts.ts'
import { SimFunctions } from './sim-function.ts'
import { SimNode } from './sim-node.ts'
import { SimProvider } from './sim-provider.ts'

/** The workers that a provider makes. */
export interface FleetSpec {
  cores: number
  workPerSecond: number
  memoryMb: number
  slots: number
  bootMs: number
}

/** What is really true of a job, and the brain does not know. */
export interface Truth {
  job: Job
  size: number
  arrivedAt: number
  /** How it behaves when it runs. */
  fate: 'ends' | 'errs' | 'crashes-slot' | 'crashes-worker'
}

/** Sees all that the brain sees and does. */
export interface Observer {
  observe(event: Event, actions: readonly Action[], now: number, brain: Brain): void
}

export interface WorldParts {
  brain: BrainSpec
  seed: number
  fleet: FleetSpec
  faults?: Faults
  /** Receives the event log, piece by piece. */
  log?: (chunk: Uint8Array) => void
  observer?: Observer
  /** Called when a job has ended for its client. */
  answered?: (truth: Truth, answer: Extract<Action, { type: 'answer' }>, now: number) => void
  /** Called after each event and all that it led to at once. */
  settled?: (world: World) => void
}

export class World {
  readonly clock = new VirtualClock()
  readonly nodes = new Map<string, SimNode>()
  /** Undefined: there are none. */
  readonly functions: SimFunctions | undefined
  readonly truths = new Map<string, Truth>()
  readonly parts: WorldParts
  readonly provider: SimProvider
  readonly brain: Brain
  /** Cores that run a job. */
  busyCores = 0
  /** Workers that the brain gives no more jobs. */
  readonly draining = new Set<string>()
  /** Where there are tiers. */
  readonly fronts = new SimFronts(this)
  readonly #wake: Happening
  readonly #log: LogWriter | undefined

  constructor(parts: WorldParts) {
    this.parts = parts
    this.brain = brainOf(parts.brain)
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
  submit(asked: Job, size: number, fate: Truth['fate'] = 'ends'): void {
    const front = this.fronts.next()
    const job = front ? { ...asked, front: front.id } : asked
    this.truths.set(job.id, { job, size, arrivedAt: this.clock.now, fate })
    this.tell({ type: 'arrived', job })
    front?.cameThrough()
  }

  /** The client of a job hangs up. */
  hangUp(id: string): void {
    if (this.truths.delete(id)) this.tell({ type: 'cancelled', job: id })
  }

  /** Hands the brain an event, and does what it says. */
  tell(event: Event): void {
    const { now } = this.clock
    const actions = this.brain.handle(event, now)
    const { observer } = this.parts
    if (this.#log) this.#log.entry(now, event, actions)
    if (observer) observer.observe(event, actions, now, this.brain)
    for (const action of actions) this.#do(action)
    if (this.parts.settled) this.parts.settled(this)
  }

  /** Hands on what of the log has gathered. */
  flushLog(): void {
    this.#log?.flush()
  }

  /** Carries a message, with whatever the network does to it. */
  send(deliver: () => void): void {
    const { faults } = this.parts
    if (!faults) return deliver()
    for (const delayMs of faults.message()) this.clock.at(this.clock.now + delayMs, rank.message, deliver)
  }

  /** A worker process comes into being and joins. */
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
        if (this.parts.faults) this.send(() => this.#run(action, truth))
        else this.#run(action, truth)
        return
      }
      case 'overflow': {
        const truth = this.truths.get(action.job)
        this.send(() => this.functions?.invoke(action, truth))
        return
      }
      case 'go':
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
    const node = this.nodes.get(run.worker)
    if (node) node.run(run, truth)
    else this.#nobody(run)
  }

  /** A message for a process that is not there: the connection is refused, or nothing comes back. */
  #nobody({ epoch, job, attempt, worker }: AttemptToken & { worker: string }): void {
    if (this.parts.faults?.refuses() ?? true) {
      this.send(() => this.tell({ type: 'failed', kind: 'unreachable', epoch, job, attempt, worker }))
    }
  }
}
