/** Turns the options of `simulate` and `compare` into runs. */

import type { OverflowOptions } from '../../brain/functions/overflow-spec.ts'
import { oneOf } from '../../lib/one-of.ts'
import { type DisciplineName, disciplines } from '../../model/discipline.ts'
import { type RunSpec, unitsPerSecond } from '../../simulate/simulate.ts'
import { usualDiscipline } from '../../systems/brain-spec.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { type SchedulerName, schedulers } from '../../systems/schedulers.ts'
import { pricesFrom } from '../cluster/functions.ts'
import { scaleFrom } from '../cluster/scaling.ts'
import type { Scenario } from './scenario-options.ts'
import type { ScenarioTraffic } from './traffic.ts'

/** A policy as the command line names it: `srpt`, or `least-connections:fifo` with the workers' discipline. */
export interface Contender<S extends string = string> {
  name: string
  /** A built-in policy, or the name of the policy that replaces it. */
  scheduler: S
  discipline: DisciplineName
}

export function contender(text: string): Contender<SchedulerName> {
  const [name = '', asked] = text.split(':')
  oneOf('policy', name, schedulers)
  const scheduler = name as SchedulerName
  const discipline = (asked ?? usualDiscipline(scheduler)) as DisciplineName
  oneOf('discipline', discipline, disciplines)
  return { name: text, scheduler, discipline }
}

export function runSpec(
  scenario: Scenario,
  { scheduler, discipline }: Contender,
  seed: number,
  traffic: ScenarioTraffic,
): RunSpec {
  const { cores, error, queue } = scenario
  const slots = scenario.slots || (disciplines[discipline].bounded ? cores + 16 : 10_000)
  return {
    brain: {
      scheduler,
      discipline,
      scale: scaleOf(scenario),
      epoch: 1,
      seed,
      limits: { queue },
      // Without ranks, all jobs run at once and none can be put behind others.
      ...(scenario.fair && disciplines[discipline].ranks && { fair: true }),
      ...(scenario.functions > 0 && { overflow: overflowOf(scenario) }),
    },
    prices: pricesFrom(scenario),
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: scenario.bootMs },
    seed,
    errorSigma: error,
    clients: scenario.clients,
    ...traffic.run(),
  }
}

/** Fixed, unless a policy is named. */
function scaleOf(scenario: Scenario): ScaleSpec {
  const { workers, scale, bootMs } = scenario
  const min = scale === undefined ? workers : Math.min(scenario.min, workers)
  return { ...scaleFrom(scenario, { min, max: workers }), ...(bootMs > 0 && scale && { bootMs }) }
}

function overflowOf(scenario: Scenario): OverflowOptions {
  const { workerHour, gbSecond, request } = pricesFrom(scenario)
  return {
    concurrency: scenario.functions,
    workPerSecond: unitsPerSecond * scenario.functionSpeed,
    coldMs: scenario.functionColdMs,
    prices: { workerHour, gbSecond, request, waitingHour: scenario.priceOfWaiting },
  }
}

/** The text of a progress line. The count moves even when one per cent takes long. */
export function doing(what: string, answered: number): string {
  return `${what}: ${answered.toLocaleString('en-US')} jobs`
}
