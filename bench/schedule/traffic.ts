/** Arrival times and sizes of the jobs of a run. */

import { stream } from '../../src/lib/random.ts'
import { type Arrivals, poisson } from '../../src/simulate/arrivals.ts'
import { type RunSpec, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal, pareto, type Sizes } from '../../src/simulate/sizes.ts'
import type { Arrived } from './limit.ts'
import type { Run } from './plan.ts'
import { azureTrace, type Trace } from './trace.ts'

export interface Traffic {
  arrivals: Arrivals
  sizes: Sizes
}

/** `observed` is the size-biased distribution: the sizes of the jobs in service at a random moment. */
const distributions = {
  pareto: { sizes: pareto(1.1), observed: pareto(0.1) },
  lognormal: { sizes: lognormal(-2, 2), observed: lognormal(2, 2) },
}

export function trafficOf({ sizes: name, load }: Pick<Run, 'sizes' | 'load'>, cores: number): Traffic {
  return name === 'azure' ? replayed(azureTrace()!, load * cores) : stationary(name, load * cores)
}

/** The jobs of the trace, once, with time scaled to a mean load of `load` cores. */
function replayed({ atMs, sizeMs, cores }: Trace, load: number): Traffic {
  const scale = cores / load
  let [arrived, drawn] = [0, 0]
  const meanSeconds = sizeMs.reduce((sum, ms) => sum + ms, 0) / sizeMs.length / 1000
  return {
    arrivals: {
      name: 'azure',
      next: () => (arrived < atMs.length ? atMs[arrived++]! * scale : Infinity),
    },
    sizes: { name: 'azure', meanSeconds, draw: () => sizeMs[drawn++]! / 1000 },
  }
}

/**
 * Poisson arrivals in a system that has reached its steady state: it starts with as many jobs as the load, each with the
 * remaining work of a job in service. A large fleet that starts empty would reach its load only after millions of jobs,
 * because the longest jobs last very long.
 */
function stationary(name: keyof typeof distributions, load: number): Traffic {
  const { sizes, observed } = distributions[name]
  const rest = poisson(load / sizes.meanSeconds)
  const initial = Math.round(load)
  let [arrived, drawn] = [0, 0]
  return {
    arrivals: {
      name: rest.name,
      next: (after, random) => (arrived++ < initial ? after : rest.next(after, random)),
    },
    sizes: {
      name,
      meanSeconds: sizes.meanSeconds,
      draw: (random) => (drawn++ < initial ? random.next() * observed.draw(random) : sizes.draw(random)),
    },
  }
}

/** Exactly the jobs that the simulator generates from the same description. */
export function* jobsOf(flow: Pick<RunSpec, 'seed' | 'jobs' | 'arrivals' | 'sizes'>): Generator<Arrived> {
  const arrivals = stream(flow.seed, 'arrivals')
  const sizes = stream(flow.seed, 'sizes')
  let at = 0
  for (let i = 0; i < flow.jobs; i++) {
    at = Math.ceil(flow.arrivals.next(at, arrivals) * 1000) / 1000
    if (at === Infinity) return
    const units = Math.max(1, Math.round(flow.sizes.draw(sizes) * unitsPerSecond))
    yield { atMs: at, sizeMs: units / (unitsPerSecond / 1000) }
  }
}
