/**
 * How fast the brain decides: every policy on fleets of 10 to 10,000 workers that come and go, with short and
 * long queues; and how many requests a second the simulator serves with its event log on.
 */

import { table } from '../src/cli/terminal/table.ts'
import { stream } from '../src/lib/random.ts'
import type { Action } from '../src/model/action.ts'
import { unitsPerSecond } from '../src/simulate/simulate.ts'
import { median } from '../src/simulate/summary.ts'
import { type BrainSpec, brainOf, usualDiscipline } from '../src/systems/brain-spec.ts'
import { type SchedulerName, schedulers } from '../src/systems/schedulers.ts'
import type { BenchOptions } from './options.ts'
import { simulatorSpeed } from './simulator.ts'

const fleets = [10, 100, 1000, 10_000]
const queues = [0, 1000, 1_000_000]
/** The fleet that the queues stand before. */
const queueFleet = 1000

export async function brain({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  // First, while the compiler has seen nothing else: a simulation is a process of its own.
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

/** A brain with a full fleet and a queue; what it returns does so many decisions and tells the time of one. */
function drive(policy: SchedulerName, workers: number, queued: number): (steps: number) => number {
  const discipline = usualDiscipline(policy)
  // With a queue, workers hold no more than they run: else nobody would wait.
  const slots = queued > 0 ? 2 : 16
  const spec: BrainSpec = {
    scheduler: policy,
    discipline,
    scale: { min: 0, max: 10 * workers },
    epoch: 1,
    seed: 1,
    limits: { queue: 2 * queued + 10 },
  }
  const brain = brainOf(spec)
  const random = stream(1, `bench ${policy}`)
  // What runs, in columns of numbers: the bench's own books should not cost more with more workers.
  let running = 0
  let jobOf = new Int32Array(1024)
  let workerOf = new Int32Array(1024)
  let attemptOf = new Int32Array(1024)
  /** By job number: the attempt that counts. */
  let current = new Int32Array(1024)
  const ids: string[] = []
  const alive: number[] = []
  let now = 0
  let jobs = 0

  const note = (actions: Action[]) => {
    for (const action of actions) {
      if (action.type !== 'run') continue
      const job = Number(action.job.slice(1))
      if (running === jobOf.length) {
        jobOf = doubled(jobOf)
        workerOf = doubled(workerOf)
        attemptOf = doubled(attemptOf)
      }
      while (job >= current.length) current = doubled(current)
      jobOf[running] = job
      workerOf[running] = Number(action.worker.slice(1))
      attemptOf[running++] = action.attempt
      current[job] = action.attempt
    }
  }
  const join = () => {
    const number = ids.length
    const id = `w${number}`
    ids.push(id)
    alive.push(number)
    const facts = { id, cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots }
    note(brain.handle({ type: 'joined', worker: facts, seq: 1, held: [] }, now))
  }
  const arrive = () => {
    const work = Math.round(Math.exp(2 * random.normal()) * 1e6)
    note(
      brain.handle(
        { type: 'arrived', job: { id: `j${++jobs}`, workload: 'bench', work, memoryMb: 10 } },
        now,
      ),
    )
  }
  /** Some job that runs ends. What is left of attempts that were lost with their worker is passed over. */
  const finish = () => {
    for (;;) {
      const at = random.below(running)
      const [job, attempt, worker] = [jobOf[at]!, attemptOf[at]!, workerOf[at]!]
      running--
      jobOf[at] = jobOf[running]!
      attemptOf[at] = attemptOf[running]!
      workerOf[at] = workerOf[running]!
      if (current[job] !== attempt) continue
      note(
        brain.handle(
          { type: 'finished', epoch: 1, job: `j${job}`, attempt, worker: ids[worker]!, work: 1 },
          now,
        ),
      )
      return
    }
  }
  const churn = () => {
    const at = random.below(alive.length)
    const worker = alive[at]!
    alive[at] = alive.at(-1)!
    alive.pop()
    note(brain.handle({ type: 'lost', worker: ids[worker]! }, now))
    join()
  }

  for (let i = 0; i < workers; i++) join()
  for (let i = 0; i < workers * 2 * (queued > 0 ? 1 : 0.9) + queued; i++) arrive()
  return (steps) => {
    const began = performance.now()
    for (let step = 0; step < steps; step += 2) {
      now += 0.01
      arrive()
      finish()
      if (step % 1000 === 0) churn()
    }
    return ((performance.now() - began) * 1000) / steps
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
