/** One contender on one stream of jobs. As a worker thread, it receives runs and returns their figures. */

import { parentPort } from 'node:worker_threads'
import type { DisciplineName } from '../../src/model/discipline.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { Answers, type Summary } from '../../src/simulate/summary.ts'
import { limit } from './limit.ts'
import { contenders, fleets, type Run } from './plan.ts'
import { jobsOf, trafficOf } from './traffic.ts'

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
  const slots = slotsFor[policy.discipline](cores)
  const limits = { queue: 1e9 }
  return simulate({
    ...flow,
    brain: { ...policy, scale: { min: workers, max: workers }, epoch: 1, seed, limits },
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs: 0 },
    errorSigma: run.sigma,
    warmup,
  }).summary()
}

/** `sharing` must never queue. With `fifo`, jobs beyond the cores belong in the brain's queue, not the worker's. */
const slotsFor: Record<DisciplineName, (cores: number) => number> = {
  sharing: () => 10_000,
  fifo: (cores) => cores,
  srpt: (cores) => cores + 16,
}

parentPort?.on('message', (run: Run) => parentPort!.postMessage(figuresOf(run)))
