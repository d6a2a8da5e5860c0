/**
 * How fast the brain decides: every policy on fleets of 10 to 10,000 workers that come and go, with short and
 * long queues; and how many requests a second the simulator serves with its event log on.
 */

import type { Brain } from '../src/brain/brain.ts'
import { table } from '../src/cli/terminal/table.ts'
import { type Random, stream } from '../src/lib/random.ts'
import type { Action } from '../src/model/action.ts'
import type { Event } from '../src/model/event.ts'
import { unitsPerSecond } from '../src/simulate/simulate.ts'
import { median } from '../src/simulate/summary.ts'
import { brainOf, usualDiscipline } from '../src/systems/brain-spec.ts'
import { type SchedulerName, schedulers } from '../src/systems/schedulers.ts'
import { bareLoop } from './bare-loop.ts'
import type { BenchOptions } from './options.ts'
import { cpuUs, simulatorSpeed } from './simulator.ts'

const fleets = [10, 100, 1000, 10_000]
const queues = [0, 1000, 1_000_000]
/** The number of workers in the measurements with queues. */
const queueFleet = 1000

export async function brain({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  // First, before the compiler has seen other code, as in a process that only simulates.
  const { requestsPerSecond, vsBareLoop } = simulatorSpeed({ quick })
  const policies = Object.keys(schedulers) as SchedulerName[]
  const rounds = quick ? 3 : 9
  const steps = quick ? 20_000 : 100_000
  const fleetTimes = measure(
    policies.flatMap((policy) => fleets.map((workers) => ({ policy, workers, queued: 0 }))),
    rounds,
    steps,
  )
  // One policy after the other: a million jobs of each at once would be a test of the garbage collector.
  const queueTimes = policies.flatMap((policy) =>
    measure(
      queues.slice(1).map((queued) => ({ policy, workers: queueFleet, queued })),
      rounds,
      steps,
    ),
  )
  const us = (policy: SchedulerName, workers: number, queued: number) =>
    [...fleetTimes, ...queueTimes].find(
      (one) => one.policy === policy && one.workers === workers && one.queued === queued,
    )!.us

  console.log(
    'Microseconds a decision (a job arrives, or ends and another takes its place), workers coming and going\n',
  )
  console.log(
    table(
      [
        'policy',
        ...fleets.map((workers) => `${workers} workers`),
        '10,000 ÷ 10',
        ...queues.slice(1).map((n) => `${n.toLocaleString('en-US')} queued`),
      ],
      policies.map((policy) => [
        policy,
        ...fleets.map((workers) => us(policy, workers, 0).toFixed(2)),
        (us(policy, 10_000, 0) / us(policy, 10, 0)).toFixed(2),
        ...queues.slice(1).map((queued) => us(policy, queueFleet, queued).toFixed(2)),
      ]),
    ),
  )
  console.log(
    `\nQueues stand before ${queueFleet.toLocaleString('en-US')} workers. Medians of ${rounds} rounds, interleaved.`,
  )
  console.log(
    `Simulator, srpt on 8 × 2 cores at load 0.9, event log and reasons on: ${Math.round(requestsPerSecond).toLocaleString('en-US')} requests a second, ${vsBareLoop.toFixed(3)} in the CPU time of one round of a bare loop\n`,
  )
  return {
    worst_ratio_10000_to_10: round2(
      Math.max(...policies.map((policy) => us(policy, 10_000, 0) / us(policy, 10, 0))),
    ),
    srpt_decision_us_10000: round2(us('srpt', 10_000, 0)),
    srpt_decision_us_1m_queued: round2(us('srpt', queueFleet, 1_000_000)),
    sim_requests_per_s: Math.round(requestsPerSecond),
    sim_vs_bare_loop: Math.round(vsBareLoop * 1000) / 1000,
  }
}

/** Decisions of srpt on 1,000 workers in the CPU time in which the bare loop does one round. */
export function decisionsVsBareLoop(): number {
  const decide = drive('srpt', 1000, 0)
  const steps = 20_000
  const ratios = Array.from({ length: 7 }, () => {
    const decisionsUs = cpuUs(() => decide(steps))
    return cpuUs(() => bareLoop(steps)) / decisionsUs
  })
  // The first two rounds run while the compiler optimises.
  return median(ratios.slice(2))
}

interface Case {
  policy: SchedulerName
  workers: number
  queued: number
}

/** The median time of a decision in each case. Round by round, so that a busy moment of the machine hits all alike. */
function measure(cases: Case[], rounds: number, steps: number): (Case & { us: number })[] {
  const drivers = cases.map(({ policy, workers, queued }) => drive(policy, workers, queued))
  const times = cases.map(() => [] as number[])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, driver] of drivers.entries()) {
      const us = driver(steps)
      if (round > 0) times[i]!.push(us)
    }
  }
  return cases.map((one, i) => ({ ...one, us: median(times[i]!) }))
}

/** A brain with a full fleet and a queue. Returns a function that makes `steps` decisions and returns the time of one. */
function drive(policy: SchedulerName, workers: number, queued: number): (steps: number) => number {
  const load = new BrainLoad(policy, workers, queued)
  for (let i = 0; i < workers; i++) load.join()
  for (let i = 0; i < workers * 2 * (queued > 0 ? 1 : 0.9) + queued; i++) load.arrive()
  return (steps) => {
    const began = performance.now()
    for (let step = 0; step < steps; step += 2) {
      load.now += 0.01
      load.arrive()
      load.finish()
      if (step % 1000 === 0) load.replaceWorker()
    }
    return ((performance.now() - began) * 1000) / steps
  }
}

class BrainLoad {
  now = 0
  readonly #brain: Brain
  readonly #random: Random
  readonly #slots: number
  // Running attempts in columns of numbers, so that the bench itself costs the same with more workers.
  #running = 0
  #jobOf = new Int32Array(1024)
  #workerOf = new Int32Array(1024)
  #attemptOf = new Int32Array(1024)
  /** The current attempt of each job. */
  #current = new Int32Array(1024)
  readonly #ids: string[] = []
  readonly #alive: number[] = []
  #jobs = 0

  constructor(policy: SchedulerName, workers: number, queued: number) {
    // With a queue, workers hold no more jobs than they run; else the queue would drain into their slots.
    this.#slots = queued > 0 ? 2 : 16
    this.#brain = brainOf({
      scheduler: policy,
      discipline: usualDiscipline(policy),
      scale: { min: 0, max: 10 * workers },
      epoch: 1,
      seed: 1,
      limits: { queue: 2 * queued + 10 },
    })
    this.#random = stream(1, `bench ${policy}`)
  }

  join(): void {
    const number = this.#ids.length
    const id = `w${number}`
    this.#ids.push(id)
    this.#alive.push(number)
    const worker = { id, cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots: this.#slots }
    this.#tell({ type: 'joined', worker, seq: 1, held: [] })
  }

  arrive(): void {
    const work = Math.round(Math.exp(2 * this.#random.normal()) * 1e6)
    const id = `j${++this.#jobs}`
    this.#tell({ type: 'arrived', job: { id, workload: 'bench', work, memoryMb: 10 } })
  }

  /** Ends a random running job. Attempts that were lost with their worker are skipped. */
  finish(): void {
    for (;;) {
      const at = this.#random.below(this.#running)
      const [job, attempt, worker] = [this.#jobOf[at]!, this.#attemptOf[at]!, this.#workerOf[at]!]
      const last = --this.#running
      this.#jobOf[at] = this.#jobOf[last]!
      this.#attemptOf[at] = this.#attemptOf[last]!
      this.#workerOf[at] = this.#workerOf[last]!
      if (this.#current[job] !== attempt) continue
      const token = { epoch: 1, job: `j${job}`, attempt, worker: this.#ids[worker]! }
      this.#tell({ type: 'finished', ...token, work: 1 })
      return
    }
  }

  /** A random worker is lost, and another joins. */
  replaceWorker(): void {
    const at = this.#random.below(this.#alive.length)
    const worker = this.#alive[at]!
    this.#alive[at] = this.#alive.at(-1)!
    this.#alive.pop()
    this.#tell({ type: 'lost', worker: this.#ids[worker]! })
    this.join()
  }

  #tell(event: Event): void {
    for (const action of this.#brain.handle(event, this.now)) {
      if (action.type === 'run') this.#started(action)
    }
  }

  #started({ job: id, worker, attempt }: Extract<Action, { type: 'run' }>): void {
    const job = Number(id.slice(1))
    if (this.#running === this.#jobOf.length) {
      this.#jobOf = doubled(this.#jobOf)
      this.#workerOf = doubled(this.#workerOf)
      this.#attemptOf = doubled(this.#attemptOf)
    }
    while (job >= this.#current.length) this.#current = doubled(this.#current)
    this.#jobOf[this.#running] = job
    this.#workerOf[this.#running] = Number(worker.slice(1))
    this.#attemptOf[this.#running++] = attempt
    this.#current[job] = attempt
  }
}

function doubled(values: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(values.length * 2)
  larger.set(values)
  return larger
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
