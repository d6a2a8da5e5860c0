/** One contender on one stream of jobs. As a thread: runs what it is sent, and sends back the figures. */

import { parentPort } from 'node:worker_threads'
import { stream } from '../../src/random.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import { type RunSpec, simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { lognormal, pareto } from '../../src/simulate/sizes.ts'
import { Answers, type Summary } from '../../src/simulate/summary.ts'
import { type Arrived, limit } from './limit.ts'
import { contenders, fleets, type Run } from './plan.ts'
import { azureTrace, traffic } from './trace.ts'

export function figuresOf(run: Run): Summary {
  const { policy } = contenders.find(({ name }) => name === run.contender)!
  const { workers, cores } = fleets[run.fleet]
  const { seed, jobs, warmup } = run
  const flow = { seed, jobs, ...trafficOf(run, workers * cores) }
  if (!policy) {
    const answers = new Answers()
    limit(jobsOf(flow), workers * cores, (number, sizeMs, responseMs) => {
      if (number > warmup) answers.add(sizeMs, responseMs)
    })
    return answers.summary()
  }
  const slots = policy.discipline === 'sharing' ? 10_000 : cores + 16
  const limits = { queue: 1e9 }
  return simulate({
    ...flow,
    brain: { ...policy, scale: { min: workers, max: workers }, epoch: 1, seed, limits },
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: 0 },
    errorSigma: run.sigma,
    warmup,
  }).summary()
}

function trafficOf({ sizes: name, load }: Run, cores: number) {
  if (name === 'azure') return traffic(azureTrace()!, load * cores)
  const sizes = name === 'pareto' ? pareto() : lognormal()
  return { sizes, arrivals: poisson((load * cores) / sizes.meanSeconds) }
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

parentPort?.on('message', (run: Run) => parentPort!.postMessage(figuresOf(run)))
