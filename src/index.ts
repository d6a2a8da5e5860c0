/** The public API of the package `plimsoll`. What needs most of the package is loaded when it is used. */

export {
  defineConfig,
  type OwnServer,
  type PlimsollConfig,
  type RouteConfig,
  type RouteRequest,
  type UpConfig,
} from './config/config.ts'
export {
  ConfigError,
  PlimsollError,
  PolicyError,
  StartError,
  UnreachableError,
} from './lib/errors.ts'
export type { Answer, JobFacts, StreamedAnswer } from './library/client/answer.ts'
export { type Client, type ClientOptions, createClient } from './library/client/client.ts'
export {
  CostError,
  DeadlineError,
  InvalidRequestError,
  JobFailedError,
  OutcomeUnknownError,
  OverloadedError,
  RequestError,
} from './library/client/errors.ts'
export type { RequestOptions } from './library/client/question.ts'
export type { InputOf, ResultOf, Served } from './library/client/types.ts'
export { createCluster } from './library/cluster.ts'
export type { ClusterState, CreateClusterOptions, RunningCluster } from './library/cluster-types.ts'
export type * from './library/policies/types.ts'
export { compare, simulate } from './library/simulation.ts'
export type {
  ComparedPolicy,
  CompareOptions,
  Comparison,
  ScenarioConfig,
  SimulatedPolicies,
  SimulatedTraffic,
  SimulateOptions,
  SimulationFigures,
  SimulationResult,
} from './library/simulation-types.ts'
export { codeHash, loadWorkloads } from './workload/load.ts'
export * from './workload/workload.ts'
