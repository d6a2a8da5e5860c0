/** Runs simulations for `simulate` and `compare`. Loaded on demand. */

import { readOptions } from '../cli/options.ts'
import { middle } from '../cli/simulation/figures.ts'
import { type Contender, contender, presetContender, runSpec } from '../cli/simulation/scenario.ts'
import { type Scenario, scenarioOptions } from '../cli/simulation/scenario-options.ts'
import { readTraffic, type ScenarioTraffic } from '../cli/simulation/traffic.ts'
import { flagOf } from '../config/option.ts'
import { checkFields } from '../lib/check-fields.ts'
import { checkNumber, invalid } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import { FleetSteps } from '../simulate/fleet-steps.ts'
import {
  type RunHooks,
  type RunResult,
  type RunSpec,
  simulate,
  unitsPerSecond,
} from '../simulate/simulate.ts'
import { withOptionNames } from './option-names.ts'
import { throwFault } from './policies/guard.ts'
import { ownEstimator } from './policies/own-estimator.ts'
import { ownScaler } from './policies/own-scaler.ts'
import { ownScheduler } from './policies/own-scheduler.ts'
import type {
  ComparedPolicy,
  CompareOptions,
  Comparison,
  SimulatedPolicies,
  SimulatedTraffic,
  SimulateOptions,
  SimulationFigures,
  SimulationResult,
} from './simulation-types.ts'

const policyKeys = ['preset', 'scheduler', 'discipline', 'scaler', 'estimator']
const scenarioKeys = Object.keys(scenarioOptions)

export function runSimulation(options: SimulateOptions): Promise<SimulationResult> {
  return withOptionNames('simulate', async () => {
    checkFields('options', options, [...scenarioKeys, ...policyKeys, 'progress'])
    const { scenario, traffic } = await readScenario(options)
    const entrant = entrantOf(policiesOf(options))
    const steps = new FleetSteps()
    const { progress } = options
    const result = run(scenario, entrant, scenario.seed, traffic, {
      observer: steps,
      ...(progress && { progress }),
    })
    const { launches, reversals } = steps
    return {
      ...figuresOf(entrant, [result]),
      ...{ traffic: described(traffic), launches, reversals, virtualMs: result.virtualMs },
    }
  })
}

/** Seed by seed: every policy serves the same jobs. */
export function runComparison(options: CompareOptions): Promise<Comparison> {
  return withOptionNames('compare', async () => {
    const fields = checkFields('options', options, [...scenarioKeys, 'policies', 'seeds'])
    const seeds = checkNumber('seeds', fields.seeds ?? 5, { min: 1, max: 1000, integer: true })
    const entrants = entrantsOf(options.policies)
    const { scenario, traffic } = await readScenario(options)
    const results = entrants.map((): RunResult[] => [])
    for (let seed = scenario.seed; seed < scenario.seed + seeds; seed++)
      for (const [i, entrant] of entrants.entries()) results[i]!.push(run(scenario, entrant, seed, traffic))
    return {
      traffic: described(traffic),
      policies: entrants.map((entrant, i) => figuresOf(entrant, results[i]!)),
    }
  })
}

/** A scenario, and whether `min` was given: presets have their own. */
type ReadScenario = Scenario & { minGiven: boolean }

async function readScenario(options: object): Promise<{ scenario: ReadScenario; traffic: ScenarioTraffic }> {
  const given = Object.entries(options).filter(
    ([key, value]) => value !== undefined && scenarioKeys.includes(key),
  )
  const { values } = readOptions([], scenarioOptions, { file: 'options', values: Object.fromEntries(given) })
  const flags = given.map(([key]) => flagOf(key))
  const traffic = await readTraffic(values, flags, () => () => {})
  return { scenario: { ...values, minGiven: flags.includes('--min') }, traffic }
}

/** A policy that takes part in a run. */
interface Entrant {
  contender: Contender
  own: SimulatedPolicies
}

function policiesOf(policies: SimulatedPolicies): SimulatedPolicies {
  const { preset, scheduler, discipline, scaler, estimator } = policies
  return {
    ...(preset !== undefined && { preset }),
    ...(scheduler && { scheduler }),
    ...(discipline && { discipline }),
    ...(scaler && { scaler }),
    ...(estimator && { estimator }),
  }
}

function entrantsOf(policies: CompareOptions['policies']): Entrant[] {
  if (!Array.isArray(policies) || policies.length === 0)
    throw invalid('policies', policies, "one policy or more, for example ['least-connections', 'srpt']")
  const entrants = (policies as readonly ComparedPolicy[]).map((policy) => {
    if (typeof policy === 'string') return { contender: contender(policy), own: {} }
    checkFields('policies', policy, [...policyKeys, 'name'])
    const entrant = entrantOf(policiesOf(policy))
    return policy.name === undefined
      ? entrant
      : { ...entrant, contender: { ...entrant.contender, name: policy.name } }
  })
  const names = entrants.map((each) => each.contender.name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new ConfigError(`policies: ${twice} is given twice; tell them apart by name`)
  return entrants
}

function entrantOf(own: SimulatedPolicies): Entrant {
  const { preset, scheduler = 'srpt', discipline } = own
  if (preset !== undefined) {
    const replaced = own.scheduler ? 'scheduler' : own.discipline ? 'discipline' : undefined
    if (replaced) throw new ConfigError(`preset = ${preset}: cannot be combined with ${replaced}`)
    return { contender: presetContender(preset), own }
  }
  const name = typeof scheduler === 'function' ? ownScheduler(scheduler, throwFault).name : scheduler
  if (typeof scheduler === 'function') {
    const follows = contender(`round-robin:${discipline ?? 'sharing'}`).discipline
    return { contender: { name, scheduler: name, discipline: follows }, own }
  }
  const built = contender(discipline === undefined ? name : `${name}:${discipline}`)
  return { contender: built, own }
}

function run(
  read: ReadScenario,
  { contender, own }: Entrant,
  seed: number,
  traffic: ScenarioTraffic,
  hooks: RunHooks = {},
): RunResult {
  const presetMin = read.minGiven ? undefined : contender.preset?.scale?.min
  const scenario = { ...read, ...(presetMin !== undefined && { min: presetMin }) }
  return simulate(withOwn(scenario, runSpec(scenario, contender, seed, traffic), own), hooks)
}

/** Each run has policies of its own, because policies have state. */
function withOwn(
  { scale, min, workers: max }: Scenario,
  spec: RunSpec,
  { scheduler, scaler, estimator }: SimulatedPolicies,
): RunSpec {
  if (scaler && scale !== undefined) throw new ConfigError(`scale = ${scale}: cannot be combined with scaler`)
  const bounds = { min: Math.min(min, max), max }
  return {
    ...spec,
    policies: {
      ...(typeof scheduler === 'function' && { scheduler: ownScheduler(scheduler, throwFault).create }),
      ...(scaler && { scaler: ownScaler(scaler, bounds, throwFault) }),
    },
    ...(estimator && { estimator: ownEstimator(estimator, unitsPerSecond / 10, throwFault) }),
  }
}

function figuresOf(
  { contender: { name, scheduler, discipline } }: Entrant,
  runs: RunResult[],
): SimulationFigures {
  const summary = middle(runs.map((each) => each.summary()))
  return { name, scheduler, discipline, ...summary, money: middle(runs.map((each) => each.money())) }
}

function described({ jobs, load, notes }: ScenarioTraffic): SimulatedTraffic {
  return { jobs, load, notes }
}
