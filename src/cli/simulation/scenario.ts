/** Turns the options of `simulate` and `compare` into runs. */

import type { OverflowOptions } from '../../brain/functions/overflow-spec.ts'
import { ConfigError } from '../../lib/errors.ts'
import { oneOf } from '../../lib/one-of.ts'
import { type DisciplineName, disciplines } from '../../model/discipline.ts'
import { type RunSpec, unitsPerSecond } from '../../simulate/simulate.ts'
import { usualDiscipline } from '../../systems/brain-spec.ts'
import type { Preset } from '../../systems/preset.ts'
import { presetOf, presets } from '../../systems/presets.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { type SchedulerName, schedulers } from '../../systems/schedulers.ts'
import { pricesFrom } from '../cluster/functions.ts'
import { scaleFrom } from '../cluster/scaling.ts'
import type { Scenario } from './scenario-options.ts'
import type { ScenarioTraffic } from './traffic.ts'

/** The interval of heartbeats, which carry the CPU readings that some presets scale by. */
const beatMs = 5000

/** A policy as the command line names it: `srpt`, or `least-connections:fifo` with the workers' discipline. */
export interface Contender<S extends string = string> {
  name: string
  /** A built-in policy, or the name of the policy that replaces it. */
  scheduler: S
  discipline: DisciplineName
  /** The preset that names them, with its other parts. */
  preset?: Preset
}

/** A preset with its amounts of work in the simulator's units. */
export function presetContender(name: string): Contender<SchedulerName> {
  const { workPerSecond = unitsPerSecond } = presetOf(name).machine ?? {}
  const preset = presetOf(name, { workScale: workPerSecond / unitsPerSecond })
  const { scheduler, discipline } = preset
  return { name, scheduler, discipline, preset }
}

/** `where`: the option that names it, for errors. */
export function contender(text: string, where = 'policy'): Contender<SchedulerName> {
  const [name = '', asked] = text.split(':')
  if (!Object.hasOwn(schedulers, name) && Object.hasOwn(presets, name))
    throw new ConfigError(
      `${where} = ${name}: is a preset; say simulate --preset ${name} or compare --presets ${name}`,
    )
  oneOf(where, name, schedulers)
  const scheduler = name as SchedulerName
  const discipline = (asked ?? usualDiscipline(scheduler)) as DisciplineName
  oneOf('discipline', discipline, disciplines)
  return { name: text, scheduler, discipline }
}

export function runSpec(
  scenario: Scenario,
  { scheduler, discipline, preset }: Contender,
  seed: number,
  traffic: ScenarioTraffic,
): RunSpec {
  const { cores, error, queue } = scenario
  const isBounded = disciplines[discipline].bounded
  const slots = scenario.slots || preset?.slots || (isBounded ? cores + 16 : 10_000)
  const overflow = scenario.functions > 0 ? overflowOf(scenario) : preset && presetOverflow(preset)
  return {
    brain: {
      scheduler,
      discipline,
      scale: scaleOf(scenario, preset),
      epoch: 1,
      seed,
      limits: { ...(preset && { beatMs, ...preset.limits }), queue },
      ...(preset?.placing && { placing: preset.placing }),
      // Without ranks, all jobs run at once and none can be put behind others.
      ...(scenario.fair && disciplines[discipline].ranks && { fair: true }),
      ...(overflow && { overflow }),
    },
    prices: pricesFrom(scenario),
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: scenario.bootMs },
    seed,
    errorSigma: error,
    clients: scenario.clients,
    ...traffic.run(),
  }
}

/** Fixed, unless a policy is named or the preset has one. */
function scaleOf(scenario: Scenario, preset: Preset | undefined): ScaleSpec {
  const { workers, bootMs } = scenario
  const scales = isScaled(scenario, preset)
  const min = scales ? Math.min(scenario.min, workers) : workers
  const spec = scaleFrom(scenario, { min, max: workers }, 0, preset?.scale)
  return { ...spec, ...(bootMs > 0 && scales && { bootMs }) }
}

export function isScaled({ scale }: Pick<Scenario, 'scale'>, preset: Preset | undefined): boolean {
  return (scale ?? preset?.scale) !== undefined
}

function presetOverflow({ overflow }: Preset): OverflowOptions | undefined {
  if (!overflow) return undefined
  const { perWorkload: _, ...brains } = overflow
  return { workPerSecond: unitsPerSecond, ...brains }
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
