import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estimator, Quote } from '../../estimate/estimator.ts'
import { RouteUnits } from '../../estimate/route-units.ts'
import type { Arrival } from '../../wire/front-messages.ts'
import { arrivals } from './arrivals.ts'

const quote: Quote = {
  work: 1000,
  low: 500,
  high: 9000,
  memoryMb: 1,
  source: 'similar',
  reason: { code: 'x' },
}
const arrival: Arrival = { job: 'j', workload: 'render', key: '', features: {}, params: {}, hasBody: false }
const code = { render: 'hash' }
const served = {
  workloads: { code },
  'an existing server': { code, units: new RouteUnits({ code, usual: 'cpu' }) },
}

/** The job of a request that a front process announces. */
function jobOf(serving: (typeof served)[keyof typeof served], estimate: Quote, asked: Partial<Arrival> = {}) {
  const estimator: Estimator = { estimate: () => estimate, learn() {} }
  const { jobOf } = arrivals({ estimator, serving, isWorker: () => false, now: () => 0 })
  return jobOf({ ...arrival, ...asked }, 'front').facts.job
}

for (const [name, serving] of Object.entries(served)) {
  test(`jobs of ${name} are not ranked by unproven estimates`, () => {
    assert.equal(jobOf(serving, { ...quote, unproven: true }).unproven, true)
    assert.equal(jobOf(serving, quote).unproven, undefined)
  })

  test(`jobs of ${name} that cannot be paused do not share cores, proven or not`, () => {
    const job = jobOf(serving, { ...quote, unproven: true }, { preemptible: false })
    assert.deepEqual([job.preemptible, job.unproven], [false, undefined])
  })
}
