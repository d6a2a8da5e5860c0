/** A burst beyond the capacity of the fleet: delay and cost with and without functions, simulated and live. */

import { price } from '../src/cli/simulation/money.ts'
import { duration, table } from '../src/cli/terminal/table.ts'
import { InvariantError } from '../src/lib/errors.ts'
import { chaos } from '../src/simulate/chaos.ts'
import { median } from '../src/simulate/summary.ts'
import type { BenchOptions } from './options.ts'
import { type LiveRan, jobs as liveJobs, runLive } from './overflow/live.ts'
import {
  type Contender,
  cores,
  fleetWorkers,
  load,
  type Ran,
  run,
  times,
  workerHour,
} from './overflow/simulated.ts'

/** The share of a core of a function with 512 MB where CPU is proportional to memory: 512 of 1,769 MB. */
const shareOfCore = 0.29

const slow = (waitingHour: number) => ({
  workers: fleetWorkers,
  functions: { speed: shareOfCore, waitingHour },
})

const contenders: readonly Contender[] = [
  { name: 'fleet alone', workers: fleetWorkers },
  { name: 'functions with a core each', workers: fleetWorkers, functions: { speed: 1, waitingHour: 1 } },
  { name: 'functions with 0.29 of a core', ...slow(1) },
  { name: '… waiting worth a tenth', ...slow(0.1) },
  { name: '… waiting worth nothing', ...slow(0) },
  { name: 'twice the fleet', workers: 2 * fleetWorkers },
  { name: 'a fleet for the burst', workers: Math.ceil(fleetWorkers * load * times * 1.1) },
]

export async function overflow({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const seeds = quick ? [1] : [1, 2, 3, 4, 5]
  const found = new Map<string, Ran>()
  for (const contender of contenders) {
    const runs = seeds.map((seed) => run(contender, seed))
    const names = Object.keys(runs[0]!) as (keyof Ran)[]
    const middle = names.map((name) => [name, median(runs.map((each) => each[name]))])
    found.set(contender.name, Object.fromEntries(middle) as unknown as Ran)
  }
  const rows = contenders.map(({ name, workers }) => {
    const ran = found.get(name)!
    const delays = [ran.meanDelayMs, ran.p99DelayMs, ran.shortP99DelayMs].map(duration)
    const sent = ran.toFunctions > 0 ? ran.toFunctions.toLocaleString('en-US') : '–'
    return [
      name,
      `${workers}`,
      ...delays,
      sent,
      price(ran.workersCost),
      price(ran.functionsCost),
      price(ran.spent),
    ]
  })
  const head = [
    'simulated',
    'workers',
    'mean delay',
    'p99',
    'p99, short 90 %',
    'to functions',
    'workers cost',
    'functions',
    'bill',
  ]
  console.log(table(head, rows))
  console.log(`
An hour of lognormal jobs (mean 1 s, estimates off by σ = 0.5) at load ${load} of ${fleetWorkers} workers × ${cores} cores, with
${times} times the rate for two minutes. Delay: time in the system beyond the time alone on a core. A worker costs
${workerHour} per hour, functions of 512 MB 0.0000166667 per GB-second and 0.0000002 per job; an hour of waiting is worth 1
unless stated otherwise. srpt; ${seeds.length === 1 ? 'one seed' : `medians of ${seeds.length} seeds`}.
`)
  const faults = withFaults(quick ? 200 : 2000)
  console.log(
    `Faults: ${faults.seeds} scenarios in which functions throttle, fail, die and hang: ${faults.away} attempts in functions, ` +
      `${faults.failed} failed, ${faults.lost} jobs lost.\n`,
  )
  const [alone, aided] = [await runLive(0, workerHour), await runLive(3, workerHour)]
  console.log(
    table(
      ['live', 'mean', 'last', 'to functions', 'answered', 'functions cost'],
      [liveRow('one worker', alone), liveRow('and 3 functions', aided)],
    ),
  )
  console.log(
    `\n${liveJobs} jobs of 1 s of CPU time at once, for one worker of one core, on this machine; functions start cold.\n`,
  )
  const [fleet, functions, peak] = ['fleet alone', 'functions with a core each', 'a fleet for the burst'].map(
    (name) => found.get(name)!,
  )
  return {
    delay_vs_fleet_alone: ratio(functions!.meanDelayMs, fleet!.meanDelayMs),
    bill_vs_fleet_alone: ratio(functions!.spent, fleet!.spent),
    bill_vs_fleet_for_the_burst: ratio(functions!.spent, peak!.spent),
    lost: faults.lost,
    live_mean_vs_fleet_alone: ratio(aided.meanMs, alone.meanMs),
    live_answered: aided.answered,
  }
}

function liveRow(name: string, ran: LiveRan): string[] {
  const { meanMs, lastMs, toFunctions, answered, functionsCost } = ran
  return [
    name,
    duration(meanMs),
    duration(lastMs),
    `${toFunctions}`,
    `${answered} of ${liveJobs}`,
    price(functionsCost),
  ]
}

/** Checks all invariants after every event; a run that violates one counts as a lost job. */
function withFaults(seeds: number): { seeds: number; away: number; failed: number; lost: number } {
  const sums = { seeds, away: 0, failed: 0, lost: 0 }
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      const { away, awayFailed } = chaos('srpt', seed)
      sums.away += away
      sums.failed += awayFailed
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error
      console.log(`seed ${seed}: ${error.message}`)
      sums.lost++
    }
  }
  return sums
}

function ratio(one: number, other: number): number {
  return Number((one / other).toFixed(3))
}
