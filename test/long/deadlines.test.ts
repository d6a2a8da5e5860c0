/** Deadlines on real processes and one core: a job that must begin goes first, and one that cannot be in time is rejected at once. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import type { WhyDocument } from '../../src/story/document.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { problemOf, until, untilIdle, useLive } from '../support/live.ts'

/** Estimates what the request states, which need not be true. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { says: string }).says) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

const live = useLive({
  files: [join(import.meta.dirname, '..', 'fixtures', 'spins.ts')],
  estimator: told,
  slots: 8,
})

/** A request that burns `ms` of CPU time, is estimated at `says`, and has an optional deadline. */
function spin(ms: number, says: number, deadlineMs?: number): Promise<Response> {
  const headers = deadlineMs === undefined ? {} : { 'plimsoll-deadline': `${deadlineMs}` }
  return fetch(`${live.url}/spin?ms=${ms}&says=${says}`, { headers })
}

/** Running jobs of all jobs on the worker. */
const runningJobs = () => {
  const jobs = live.state().workers.flatMap((worker) => worker.jobs)
  return `${jobs.filter(({ running }) => running).length} of ${jobs.length}`
}

test('a job that must begin now preempts one with less remaining work, and is answered in time', async () => {
  const order: string[] = []
  const noted = async (name: string, answer: Promise<Response>) => {
    const { status, headers } = await answer
    assert.equal(status, 204)
    order.push(name)
    return headers.get('plimsoll-job')!
  }
  const report = noted('report', spin(1500, 10_000))
  await until(() => runningJobs() === '1 of 1', 'the report runs')
  const bill = await noted('bill', spin(100, 20_000, 24_000))
  await report
  assert.deepEqual(order, ['bill', 'report'])
  await untilIdle(live)

  const why = async (job: string) =>
    (await (await fetch(`${live.adminUrl}/api/jobs/${job}/why`)).json()) as WhyDocument
  assert.match((await why(bill)).summary, /went first from .* because of its deadline/)
  const paused = (await why(await report)).story.find(({ event }) => event === 'pause')
  assert.match(paused!.text, new RegExp(`^Paused: job ${bill} preempts it because that one goes first: `))
})

test('a job that cannot meet its deadline is a 504 at once, with the numbers', async () => {
  const { code, detail, needMs, leftMs, headers } = await problemOf(spin(10, 20_000, 5_000), 504)
  assert.deepEqual([code, needMs], ['no-time', 20_000])
  assert.ok(Number(leftMs) > 0 && Number(leftMs) <= 5_000, `${leftMs}`)
  assert.match(detail, /^Nearly all such jobs need more than 20 s, and its deadline is in [\d.]+ s\.$/)
  assert.ok(headers.get('plimsoll-job'))
  assert.equal(live.state().jobs, 0)
})

test('a job that cannot meet its deadline behind jobs with earlier deadlines is a 504 at once', async () => {
  const bill = spin(1500, 20_000, 24_000)
  await until(() => runningJobs() === '1 of 1', 'the bill runs')
  const { code, needMs, togetherMs, leftMs } = await problemOf(spin(10, 20_000, 26_000), 504)
  assert.deepEqual([code, needMs], ['no-time-for-all', 20_000])
  assert.ok(Number(leftMs) > 20_000 && Number(leftMs) <= 26_000, `${leftMs}`)
  assert.ok(Number(togetherMs) > 26_000 && Number(togetherMs) <= 40_000, `${togetherMs}`)
  assert.equal((await bill).status, 204)
  await untilIdle(live)
})
