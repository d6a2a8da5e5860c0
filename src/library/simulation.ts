/** Simulations inside a program: what `plimsoll simulate` and `plimsoll compare` do. */

import type { CompareOptions, Comparison, SimulateOptions, SimulationResult } from './simulation-types.ts'

/**
 * Runs the brain in virtual time. The same options give the same result. The run occupies this thread: a million jobs take
 * a few seconds. Rejects with a `ConfigError` or a `PolicyError`.
 */
export async function simulate(options: SimulateOptions = {}): Promise<SimulationResult> {
  const { runSimulation } = await import('./run-simulation.ts')
  return runSimulation(options)
}

/** Runs several policies on the same jobs. Rejects as `simulate` does. */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const { runComparison } = await import('./run-simulation.ts')
  return runComparison(options)
}
