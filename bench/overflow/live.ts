/** A burst on a real cluster of one worker: twelve jobs of a second of CPU time, all at once. */

import { join } from 'node:path'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { mean } from '../../src/simulate/summary.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { main, withCluster } from '../cluster.ts'

const files = [join(import.meta.dirname, '../../test/fixtures/spins.ts')]

export const jobs = 12
const jobMs = 1000

/** Exact estimates, in CPU time. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms: string }).ms) * nominalRate('off')
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 64 }
  },
  learn() {},
}

export interface LiveRan {
  meanMs: number
  lastMs: number
  toFunctions: number
  answered: number
  functionsCost: number
  workersCost: number
}

/** `functions`: their maximum concurrency; 0: none. */
export function runLive(functions: number, pricePerHour: number): Promise<LiveRan> {
  const away = { most: functions, command: [process.execPath, main, 'function'] }
  const options = { files, meter: 'off', jobMemoryMb: 512, estimator: told, pricePerHour } as const
  return withCluster({ ...options, ...(functions > 0 && { functions: away }) }, async (cluster) => {
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: jobs }, async () => {
        const answer = await fetch(`${cluster.url}/spin?ms=${jobMs}`)
        await answer.arrayBuffer()
        return { ok: answer.ok, ms: performance.now() - began }
      }),
    )
    const { money } = cluster.state()
    const times = answers.map(({ ms }) => ms)
    return {
      meanMs: mean(times),
      lastMs: Math.max(...times),
      toFunctions: money.functionRequests,
      answered: answers.filter(({ ok }) => ok).length,
      functionsCost: money.functions,
      workersCost: money.workers,
    }
  })
}
