/** The figures of the last line. Ratios are `srpt` ÷ another policy, for the worse of the two distributions. */

import { type FleetName, loads, lowLoads, type SizesName } from './plan.ts'
import type { Figure, Results, Who } from './results.ts'

const distributions = ['pareto', 'lognormal'] as const
const srpt: Who = { contender: 'srpt', sigma: 0.5 }
const blind: Who = { contender: 'srpt', sigma: 2 }
const leastConnections: Who = { contender: 'least-connections', sigma: 0 }
const limit: Who = { contender: 'limit', sigma: 0 }

export function headline(results: Results): Record<string, unknown> {
  const at90 = (fleet: FleetName, sizes: SizesName) => ({ fleet, sizes, load: 0.9 })
  const worse = (of: (sizes: SizesName) => number) => round(Math.max(...distributions.map(of)))
  const versusPeer = (who: Who, figure: Figure) =>
    worse((sizes) => results.ratio(who, leastConnections, at90('2×2', sizes), figure))
  const versusLimit = (fleet: FleetName, sizes: SizesName) =>
    round(results.ratio(srpt, limit, at90(fleet, sizes), 'meanResponseMs'))
  const maxLoad = (who: Who) =>
    round(Math.min(...distributions.map((sizes) => loadAtSlowdown2(results, who, sizes))))
  return {
    p99_vs_leastconn_2x2_90: versusPeer(srpt, 'p99Slowdown'),
    mean_vs_limit_2x2_pareto: versusLimit('2×2', 'pareto'),
    mean_vs_limit_2x2_lognormal: versusLimit('2×2', 'lognormal'),
    mean_vs_limit_8x2_pareto: versusLimit('8×2', 'pareto'),
    mean_vs_limit_8x2_lognormal: versusLimit('8×2', 'lognormal'),
    big_vs_leastconn_2x2_90: versusPeer(srpt, 'largestSlowdown'),
    sigma2_p99_vs_leastconn_2x2_90: versusPeer(blind, 'p99Slowdown'),
    max_slowdown_sigma2: worse((sizes) => results.figure(blind, at90('2×2', sizes), 'maxSlowdown')),
    max_load_at_p99_2: { srpt: maxLoad(srpt), leastconn: maxLoad(leastConnections) },
  }
}

/** The highest load with a p99 slowdown of at most 2, interpolated between the loads that were run. */
function loadAtSlowdown2(results: Results, who: Who, sizes: SizesName): number {
  const points = [...lowLoads, ...loads].map((load) => ({
    load,
    p99: results.figure(who, { fleet: '2×2', sizes, load }, 'p99Slowdown'),
  }))
  return crossing(points, 2)
}

/** Interpolates linearly, from a slowdown of 1 at load 0; does not extrapolate beyond the last point. */
export function crossing(points: readonly { load: number; p99: number }[], most: number): number {
  let below = { load: 0, p99: 1 }
  for (const above of points) {
    if (above.p99 > most)
      return below.load + ((above.load - below.load) * (most - below.p99)) / (above.p99 - below.p99)
    below = above
  }
  return below.p99 <= most ? below.load : Number.NaN
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
