/** Options and results of simulations inside a program. */

import type { scenarioOptions } from '../cli/simulation/scenario-options.ts'
import type { ConfigValues } from '../config/option.ts'
import type { DisciplineName } from '../model/discipline.ts'
import type { Summary } from '../simulate/summary.ts'
import type { Money } from '../story/money.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import type { EstimatorFactory } from './policies/own-estimator.ts'
import type { ScalerFactory } from './policies/own-scaler.ts'
import type { SchedulerFactory } from './policies/scheduler.ts'

/** The simulated cluster and its traffic: the options of `plimsoll simulate`, by their keys. */
export type ScenarioConfig = ConfigValues<typeof scenarioOptions>

/** Policies of a simulated cluster. */
export interface SimulatedPolicies {
  /** By name or of one's own. Default: `srpt`. */
  scheduler?: SchedulerName | SchedulerFactory
  /** Which jobs of a worker run now. Default: as the scheduler expects. */
  discipline?: DisciplineName
  /** A scaling policy of one's own, in place of `scale`; the fleet then has `min` to `workers` workers. */
  scaler?: ScalerFactory
  /** An estimator of one's own. Its questions have one feature, `seconds`: the estimate that the simulation drew. */
  estimator?: EstimatorFactory
}

/** A policy of a comparison: a name as on the command line (`least-connections:fifo`), or policies with a label. */
export type ComparedPolicy = string | (SimulatedPolicies & { name?: string })

/** Options of `simulate`. */
export interface SimulateOptions extends ScenarioConfig, SimulatedPolicies {
  /** Called many times a second with the number of jobs answered. */
  progress?(answered: number): void
}

/** Options of `compare`. */
export interface CompareOptions extends ScenarioConfig {
  policies: readonly ComparedPolicy[]
  /** Number of seeds, from `seed` on; results are medians. Default 5. */
  seeds?: number
}

/** The traffic of a simulation. */
export interface SimulatedTraffic {
  /** Number of jobs in a run; an estimate for some traces. */
  jobs: number
  load: number
  /** Caveats for readers of the figures. */
  notes: readonly string[]
}

/** Response times and slowdowns of a policy, and what it cost. */
export interface SimulationFigures extends Summary {
  /** The label of the policy. */
  name: string
  scheduler: string
  discipline: DisciplineName
  money: Money
}

/** The result of `simulate`. */
export interface SimulationResult extends SimulationFigures {
  traffic: SimulatedTraffic
  launches: number
  /** Launches after a scale-in, and scale-ins after a launch. */
  reversals: number
  /** Length of the run in virtual time. */
  virtualMs: number
}

/** The result of `compare`: policies in the order in which they were given. */
export interface Comparison {
  traffic: SimulatedTraffic
  policies: SimulationFigures[]
}
