/** On one core a short job passes a long one, unless the long one must not be paused. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../src/estimate/estimator.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import { nominalRate } from '../src/worker/rates.ts'
import { type Live, until, untilIdle, useLive } from './support/live.ts'
import { slotsOf } from './support/processes.ts'

/** Knows what each will cost. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms: string }).ms) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

const files = [join(import.meta.dirname, 'fixtures', 'spins.ts')]
const live = useLive({ files, estimator: told, slots: 8 })

/** The names of jobs in the order in which they were answered. */
async function order(
  cluster: Live,
  jobs: [workload: string, ms: number, when: () => unknown][],
): Promise<string[]> {
  const answered: string[] = []
  const all: Promise<void>[] = []
  for (const [workload, ms, when] of jobs) {
    await until(when, `it is time for ${workload}`)
    const sent = fetch(`${cluster.url}/${workload}?ms=${ms}`).then((response) => {
      assert.equal(response.status, 204)
      answered.push(`${workload} ${ms}`)
    })
    all.push(sent)
  }
  await Promise.all(all)
  await untilIdle(cluster)
  return answered
}

const atOnce = () => true
const inState = (wanted: string) => () => slotsOf(process.pid).some(({ state }) => state === wanted)

test('a short job passes a long one, whose process is stopped meanwhile', async () => {
  let stopped = false
  const watch = setInterval(() => {
    stopped ||= inState('T')()
  }, 5)
  const answered = await order(live, [
    ['spin', 1500, atOnce],
    ['spin', 200, inState('R')],
  ])
  clearInterval(watch)
  assert.deepEqual(answered, ['spin 200', 'spin 1500'])
  assert.equal(stopped, true)
  assert.equal(inState('T')(), false)
})

test('a job that must not be paused is not', async () => {
  const answered = await order(live, [
    ['stubborn', 800, atOnce],
    ['spin', 50, inState('R')],
  ])
  assert.deepEqual(answered, ['stubborn 800', 'spin 50'])
})

test('a job is paused as soon as it comes out of its uninterrupted part', async () => {
  const answered = await order(live, [
    ['locked', 1600, atOnce],
    ['spin', 50, inState('R')],
  ])
  assert.deepEqual(answered, ['spin 50', 'locked 1600'])
})

test('a longer job waits for a shorter one', async () => {
  const answered = await order(live, [
    ['spin', 500, atOnce],
    ['spin', 900, inState('R')],
    ['spin', 100, atOnce],
  ])
  assert.deepEqual(answered, ['spin 100', 'spin 500', 'spin 900'])
})
