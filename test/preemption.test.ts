/** On one core, a short job preempts a long one, unless the long one is not preemptible. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../src/estimate/estimator.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import { nominalRate } from '../src/worker/rates.ts'
import { open, patient, until, untilIdle, useLive } from './support/live.ts'
import { allProcesses } from './support/processes.ts'

/** Estimates what the request states. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms: string }).ms) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

const files = [join(import.meta.dirname, 'fixtures', 'held-spins.ts')]
// However long a job waits, it is owed no turn.
const limits = { ...patient, mostSlowdown: 0 }
const live = useLive({ files, estimator: told, slots: 8, limits })

/** So far apart that the progress of the longer ones does not matter. */
const [short, long, longest] = [1e3, 1e6, 1e9]

/** Starts a job that runs until `finish` is called, which returns the jobs that have begun by then. */
function start(workload: string, name: string, ms: number) {
  const known = live.state().jobs
  const answer = fetch(`${live.url}/${workload}?name=${name}&ms=${ms}`)
  const file = join(live.dataDir, `${name}.begun`)
  return {
    arrived: () => until(() => live.state().jobs === known + 1, `${name} has arrived`),
    begun: () => until(() => existsSync(file), `${name} runs`),
    inState: (pattern: RegExp) =>
      until(() => {
        const pid = Number(readFileSync(file, 'utf8'))
        return allProcesses().some((found) => found.pid === pid && pattern.test(found.state))
      }, `${name} is in state ${pattern}`),
    async finish(): Promise<string[]> {
      open(live, `${name}.go`)
      return ((await (await answer).json()) as string[]).map((begun) => begun.split('.')[0]!).sort()
    },
  }
}

test('a short job preempts a long one, whose process is stopped', async () => {
  const first = start('spin', 'a1', long)
  await first.begun()
  const second = start('spin', 'a2', short)
  await second.begun()
  await first.inState(/T/)
  await second.finish()
  await first.inState(/[^T]/)
  await first.finish()
  await untilIdle(live)
})

test('a job that is not preemptible is never paused', async () => {
  const first = start('stubborn', 'b1', long)
  await first.begun()
  const second = start('spin', 'b2', short)
  await second.arrived()
  // If the other job had preempted it, it could not answer, because the other still runs.
  assert.ok(!(await first.finish()).includes('b2'))
  await second.begun()
  await second.finish()
  await untilIdle(live)
})

test('a job is paused as soon as it leaves its uninterruptible part', async () => {
  const first = start('locked', 'c1', long)
  await first.begun()
  const second = start('spin', 'c2', short)
  await second.arrived()
  open(live, 'c1.half')
  await second.begun()
  await first.inState(/T/)
  await second.finish()
  assert.ok(!(await first.finish()).includes('c2'), 'the other job began during that part')
  await untilIdle(live)
})

test('a longer job waits for a shorter one', async () => {
  const first = start('spin', 'd1', long)
  await first.begun()
  const second = start('spin', 'd2', longest)
  await second.arrived()
  const third = start('spin', 'd3', short)
  await third.begun()
  await first.inState(/T/)
  assert.ok(!(await third.finish()).includes('d2'))
  assert.ok(!(await first.finish()).includes('d2'))
  await second.begun()
  await second.finish()
  await untilIdle(live)
})
