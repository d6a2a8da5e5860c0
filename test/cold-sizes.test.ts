/** Sizes of the requests of `npm run -s bench -- cold`. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { shortP99Of } from '../bench/cold/short.ts'
import { sizedByWork } from '../bench/cold/sizes.ts'
import type { StreamName } from '../bench/estimate/stream.ts'
import type { TimedJob } from '../bench/live/jobs.ts'

const calibration = {
  workPerMs: new Map<StreamName, number>([
    ['factorize', 1000],
    ['shop', 500],
  ]),
  besidesMs: 2,
}

const job = (workload: StreamName): TimedJob => ({ workload, params: {}, sizeMs: 12, atMs: 0, counts: true })
const answer = (work: number) => ({ headers: { 'plimsoll-work': `${work}` } })
const failed = { headers: { 'plimsoll-work': '1' }, error: '504' }

test('the size of a request follows from its own work, not from the one that was drawn', () => {
  const jobs = [job('factorize'), job('factorize'), job('shop')]
  const answers = [answer(10_000), answer(70_000), answer(1000)]
  const { jobs: sized, unmeasured } = sizedByWork(jobs, [answers, answers], calibration)
  assert.deepEqual(
    sized.map(({ sizeMs }) => sizeMs),
    [12, 72, 4],
  )
  assert.equal(unmeasured, 0)
  // Drawn as a short request, it would have counted as one that was slowed down by a factor of 6.
  const served = sized.map(({ sizeMs }) => ({ sizeMs, responseMs: sizeMs }))
  assert.equal(shortP99Of(served, 12), 1)
})

test('a request has one size in all systems; failed answers do not count', () => {
  const jobs = [job('shop'), job('shop'), job('shop')]
  const systems = [
    [answer(1000), failed, failed],
    [answer(3000), answer(5000), { headers: {} }],
  ]
  const { jobs: sized, unmeasured } = sizedByWork(jobs, systems, calibration)
  assert.deepEqual(
    sized.map(({ sizeMs }) => sizeMs),
    [6, 12, 12],
  )
  assert.equal(unmeasured, 1)
})
