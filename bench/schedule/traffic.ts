/** Arrivals and sizes of the jobs of a run. */

import { stream } from '../../src/lib/random.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import { type RunSpec, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal, pareto } from '../../src/simulate/sizes.ts'
import type { Arrived } from './limit.ts'
import type { Run } from './plan.ts'
import { azureTrace, replayed, type Traffic } from './trace.ts'

/** `found`: the size-biased distribution of running jobs, in which a job twice as large is twice as likely. */
const distributions = {
  pareto: { sizes: pareto(1.1), found: pareto(0.1) },
  lognormal: { sizes: lognormal(-2, 2), found: lognormal(2, 2) },
}

export function trafficOf({ sizes: name, load }: Pick<Run, 'sizes' | 'load'>, cores: number): Traffic {
  return name === 'azure' ? replayed(azureTrace()!, load * cores) : underWay(name, load * cores)
}

/**
 * Independent arrivals at a fleet in steady state: it starts with as many jobs as the load, with the residual sizes of
 * running jobs. Otherwise a large fleet would need millions of jobs to reach its load, because the longest jobs last
 * that long.
 */
function underWay(name: keyof typeof distributions, load: number): Traffic {
  const { sizes, found } = distributions[name]
  const rest = poisson(load / sizes.meanSeconds)
  const there = Math.round(load)
  let [arrived, drawn] = [0, 0]
  return {
    arrivals: {
      name: rest.name,
      next: (after, random) => (arrived++ < there ? after : rest.next(after, random)),
    },
    sizes: {
      name,
      meanSeconds: sizes.meanSeconds,
      draw: (random) => (drawn++ < there ? random.next() * found.draw(random) : sizes.draw(random)),
    },
  }
}

/** Exactly the jobs that the simulator draws from the same settings, to the microsecond. */
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
