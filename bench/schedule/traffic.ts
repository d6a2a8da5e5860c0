/** The jobs of a run: when they arrive and how large they are. */

import { stream } from '../../src/lib/random.ts'
import { type Arrivals, poisson } from '../../src/simulate/arrivals.ts'
import { type RunSpec, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal, pareto, type Sizes } from '../../src/simulate/sizes.ts'
import type { Arrived } from './limit.ts'
import type { Run } from './plan.ts'
import { azureTrace, replayed } from './trace.ts'

export interface Traffic {
  arrivals: Arrivals
  sizes: Sizes
}

/** Each with the sizes of jobs as an onlooker finds them at work: a job twice as large is found twice as often. */
const distributions = {
  pareto: { sizes: pareto(1.1), found: pareto(0.1) },
  lognormal: { sizes: lognormal(-2, 2), found: lognormal(2, 2) },
}

export function trafficOf({ sizes: name, load }: Pick<Run, 'sizes' | 'load'>, cores: number): Traffic {
  return name === 'azure' ? replayed(azureTrace()!, load * cores) : underWay(name, load * cores)
}

/**
 * Independent arrivals, on a fleet that has been at it for long: the first jobs are there at the start, as many as the
 * load is, with what is left of jobs that an onlooker finds at work. Else a large fleet would not see its load for
 * millions of jobs, so long do the longest last.
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

/** The very jobs that the simulator would make of the same description, to the microsecond. */
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
