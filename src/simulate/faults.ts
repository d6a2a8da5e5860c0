/** Faults of a simulation, drawn from a seed: of messages, the provider, functions, workers and the brain's process. */

import { type Random, stream } from '../lib/random.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { type BrainFaultRates, freezeBrain } from './brain-faults.ts'
import { rank } from './clock.ts'
import type { Environment, FaultDraws, FunctionFate } from './environment.ts'
import { type ProviderFaultRates, ProviderFaults } from './provider-faults.ts'

/** Shares between 0 and 1, and times. */
export interface FaultRates {
  lose: number
  double: number
  delayMs: number
  provider: Omit<ProviderFaultRates, 'untilMs'>
  brain: BrainFaultRates
  /** Functions throttle jobs, fail at once, die half-way, or hang. */
  functionThrottles: number
  functionErrs: number
  functionDies: number
  functionHangs: number
  /** Mean time between faults of workers. */
  everyMs: number
  /** Mean time between stalls of workers: they report, but their jobs stand still or run at a twentieth. Infinity: none. */
  stallEveryMs: number
  /** No faults after this time. */
  untilMs: number
}

export class Faults implements FaultDraws {
  readonly rates: FaultRates
  readonly provider: ProviderFaults
  /** Starts of each job that may start only once. */
  readonly starts = new Map<string, number>()
  readonly #network: Random
  readonly #workers: Random
  readonly #functions: Random
  readonly #brain: Random
  readonly #breakdowns: Random
  readonly #stalls: Random
  #over = false

  constructor(rates: FaultRates, seed: number) {
    this.rates = rates
    this.#network = stream(seed, 'network')
    this.provider = new ProviderFaults({ ...rates.provider, untilMs: rates.untilMs }, seed)
    this.#workers = stream(seed, 'workers')
    this.#functions = stream(seed, 'functions')
    this.#brain = stream(seed, 'brain pauses')
    this.#breakdowns = stream(seed, 'breakdowns')
    this.#stalls = stream(seed, 'stalled jobs')
  }

  message(): number[] {
    const { lose, double, delayMs } = this.rates
    const random = this.#network
    if (this.#over) return [random.next()]
    if (random.next() < lose) return []
    const delay = () => 0.1 + random.exponential() * delayMs
    return random.next() < double ? [delay(), delay()] : [delay()]
  }

  function(): FunctionFate {
    if (this.#over) return 'works'
    const { functionThrottles, functionErrs, functionDies, functionHangs } = this.rates
    const draw = this.#functions.next()
    const errsFrom = functionThrottles
    const diesFrom = errsFrom + functionErrs
    const hangsFrom = diesFrom + functionDies
    if (draw < errsFrom) return 'throttles'
    if (draw < diesFrom) return 'errs'
    if (draw < hangsFrom) return 'dies'
    return draw < hangsFrom + functionHangs ? 'hangs' : 'works'
  }

  refuses(): boolean {
    return this.#over || this.#network.next() < 0.5
  }

  noticesDeath(): boolean {
    return this.#workers.next() < 0.5
  }

  started({ job }: AttemptToken): void {
    this.starts.set(job, (this.starts.get(job) ?? 0) + 1)
  }

  /** Makes workers crash, freeze, slow down and drain until `untilMs`, then lets them recover. */
  begin(world: Environment): void {
    this.provider.begin(world)
    freezeBrain(world, this.rates, this.#brain)
    breakWorkers(world, this.rates, this.#breakdowns)
    stallJobs(world, this.rates, this.#stalls)
    const random = this.#workers
    const next = () => {
      const at = world.clock.now + random.exponential() * this.rates.everyMs
      if (at < this.rates.untilMs) world.clock.at(at, rank.fault, strike)
    }
    const strike = () => {
      const nodes = [...world.nodes.values()]
      const node = nodes[random.below(nodes.length)]
      const kind = random.below(5)
      const lastsMs = random.exponential() * this.rates.everyMs * 2
      if (node?.alive && !node.frozen) {
        if (kind === 0) node.die()
        else if (kind === 1 || kind === 2) {
          node.freeze()
          world.clock.at(world.clock.now + lastsMs, rank.fault, () => node.thaw())
        } else if (kind === 3) {
          node.worker.setSpeed(0.1)
          world.clock.at(world.clock.now + lastsMs, rank.fault, () => {
            if (!node.frozen) node.worker.setSpeed(1)
          })
        } else world.tell({ type: 'drain', worker: node.id })
      }
      next()
    }
    next()
    world.clock.at(this.rates.untilMs, rank.fault, () => {
      this.#over = true
      world.process.thaw()
      for (const node of [...world.nodes.values()]) {
        node.thaw()
        if (node.alive) node.worker.setSpeed(1)
      }
    })
  }
}

/** Makes workers fail every attempt at once for a while, until `untilMs`. */
function breakWorkers(world: Environment, { everyMs, untilMs }: FaultRates, random: Random): void {
  const { clock } = world
  const next = () => {
    const at = clock.now + random.exponential() * everyMs
    if (at < untilMs) clock.at(at, rank.fault, strike)
  }
  const strike = () => {
    const nodes = [...world.nodes.values()]
    const node = nodes[random.below(nodes.length)]
    if (node) node.broken = true
    const endsAt = Math.min(untilMs, clock.now + random.exponential() * everyMs)
    clock.at(endsAt, rank.fault, () => {
      if (node) node.broken = false
    })
    next()
  }
  next()
}

/** Makes all jobs of a worker stand still, or run at a twentieth, for a while, until `untilMs`. The worker goes on reporting. */
function stallJobs(world: Environment, { stallEveryMs, untilMs }: FaultRates, random: Random): void {
  const { clock } = world
  const next = () => {
    const at = clock.now + random.exponential() * stallEveryMs
    if (at < untilMs) clock.at(at, rank.fault, strike)
  }
  const strike = () => {
    const nodes = [...world.nodes.values()]
    const node = nodes[random.below(nodes.length)]
    const speed = random.next() < 0.5 ? 0 : 0.05
    const endsAt = Math.min(untilMs, clock.now + random.exponential() * stallEveryMs * 4)
    if (node?.alive && !node.frozen) node.worker.setSpeed(speed)
    clock.at(endsAt, rank.fault, () => {
      if (node?.alive && !node.frozen) node.worker.setSpeed(1)
    })
    next()
  }
  next()
}
