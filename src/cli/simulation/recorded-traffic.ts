/** The traffic of `simulate --preset` for a published system: recorded requests, estimated by the system's own estimator. */

import { loadTraffic, ownTraffics, requestsOf } from '../../simulate/own-traffic.ts'
import { repeats } from '../../simulate/recorded/recorded-requests.ts'
import { isGiven } from '../options.ts'
import type { Scenario } from './scenario-options.ts'
import { arrivalsOf, type ScenarioTraffic } from './traffic.ts'

/** Options that describe other requests. */
const replacing = ['sizes', 'trace', 'error'] as const

/** Undefined: the preset has no recorded requests, or the options ask for others. */
export function recordedTraffic(
  preset: string,
  scenario: Scenario,
  args: readonly string[],
): ScenarioTraffic | undefined {
  const own = ownTraffics.find(({ name }) => name === preset)
  if (!own || replacing.some((name) => isGiven(args, name))) return undefined
  const traffic = loadTraffic(own)
  const { workers, cores, load, jobs, clients, seed } = scenario
  const run = () => {
    const part = requestsOf(traffic, preset, seed)
    const known = part.known!
    let count = 0
    const ofClient = () => ({ ...known(), client: `c${++count % clients}` })
    const perSecond = (load * workers * cores) / part.sizes.meanSeconds
    return {
      ...part,
      ...(clients > 1 && { known: ofClient }),
      ...{ jobs, arrivals: arrivalsOf(scenario.arrivals, perSecond) },
    }
  }
  const workloads = [...new Set(traffic.requests.map(({ workload }) => workload))].join(', ')
  const estimates = run().estimator
    ? "estimated by the preset's estimator, which learns"
    : 'without estimates'
  return {
    ...{ jobs, load, run },
    words: `load ${load}, recorded requests of ${workloads} (${repeats * 100} % repeated), ${estimates}`,
    notes: [],
  }
}
