/** A burst on a real cluster of one worker: twelve jobs of a second of CPU time, all at once. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../../src/cluster.ts'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { mean } from '../../src/simulate/summary.ts'
import { nominalRate } from '../../src/worker/rates.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')
const files = [join(import.meta.dirname, '../../test/fixtures/spins.ts')]

export const jobs = 12
const jobMs = 1000

/** What each needs is known, and work is CPU time. */
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

/** `functions`: most at a time; 0: none. */
export async function runLive(functions: number, pricePerHour: number): Promise<LiveRan> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-overflow-'))
  const cluster = await startCluster({
    files,
    dataDir,
    host: '127.0.0.1',
    port: 0,
    adminPort: 0,
    min: 1,
    max: 1,
    scheduler: 'srpt',
    discipline: 'srpt',
    meter: 'off',
    jobMemoryMb: 512,
    slots: 17,
    queue: 1000,
    estimator: told,
    pricePerHour,
    workerCommand: [process.execPath, main, 'worker'],
    ...(functions > 0 && { functions: { most: functions, command: [process.execPath, main, 'function'] } }),
    log: () => {},
  })
  try {
    await cluster.ready
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
  } finally {
    await cluster.stop(0)
    rmSync(dataDir, { recursive: true, force: true })
  }
}
