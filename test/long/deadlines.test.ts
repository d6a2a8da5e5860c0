/** Deadlines on real processes and one core: who must begin goes first, and who cannot be in time is told at once. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import type { WhyDocument } from '../../src/story/document.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { problemOf, until, untilIdle, useLive } from '../support/live.ts'

/** Believes what each request says of itself, which need not be true. */
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

/** A request that burns so much CPU time, says that it needs so much, and has so much time. */
function spin(ms: number, says: number, deadlineMs?: number): Promise<Response> {
  const headers = deadlineMs === undefined ? {} : { 'plimsoll-deadline': `${deadlineMs}` }
  return fetch(`${live.url}/spin?ms=${ms}&says=${says}`, { headers })
}

/** Jobs in the worker's hands: how many run, and how many are there. */
const hands = () => {
  const jobs = live.state().workers.flatMap((worker) => worker.jobs)
  return `${jobs.filter(({ running }) => running).length} of ${jobs.length}`
}

test('a job that must begin now takes the core of one that has less left, and is answered in time', async () => {
  const order: string[] = []
  const noted = async (name: string, answer: Promise<Response>) => {
    const { status, headers } = await answer
    assert.equal(status, 204)
    order.push(name)
    return headers.get('plimsoll-job')!
  }
  const report = noted('report', spin(1500, 10_000))
  await until(() => hands() === '1 of 1', 'the report is made')
  const bill = await noted('bill', spin(100, 20_000, 24_000))
  await report
  assert.deepEqual(order, ['bill', 'report'])
  await untilIdle(live)

  const why = async (job: string) =>
    (await (await fetch(`${live.adminUrl}/api/jobs/${job}/why`)).json()) as WhyDocument
  assert.match((await why(bill)).summary, /went first from .* for its deadline/)
  const paused = (await why(await report)).story.find(({ event }) => event === 'pause')
  assert.match(paused!.text, new RegExp(`^Paused: job ${bill} preempts it because that one goes first: `))
})

test('a job that cannot be done in time is a 504 at once, with the numbers', async () => {
  const { code, detail, needMs, leftMs, headers } = await problemOf(spin(10, 20_000, 5_000), 504)
  assert.deepEqual([code, needMs], ['no-time', 20_000])
  assert.ok(Number(leftMs) > 0 && Number(leftMs) <= 5_000, `${leftMs}`)
  assert.match(detail, /^Nearly all such jobs need more than 20 s, and its deadline is in [\d.]+ s\.$/)
  assert.ok(headers.get('plimsoll-job'))
  assert.equal(live.state().jobs, 0)
})

test('so is one that cannot be done with those whose deadlines are earlier', async () => {
  const bill = spin(1500, 20_000, 24_000)
  await until(() => hands() === '1 of 1', 'the bill is made')
  const { code, needMs, togetherMs, leftMs } = await problemOf(spin(10, 20_000, 26_000), 504)
  assert.deepEqual([code, needMs], ['no-time-for-all', 20_000])
  assert.ok(Number(leftMs) > 20_000 && Number(leftMs) <= 26_000, `${leftMs}`)
  assert.ok(Number(togetherMs) > 26_000 && Number(togetherMs) <= 40_000, `${togetherMs}`)
  assert.equal((await bill).status, 204)
  await untilIdle(live)
})
