import assert from 'node:assert/strict'
import test from 'node:test'
import { type SchedulerName, schedulers } from '../src/systems/schedulers.ts'
import { reproduce, runFaults } from './checks/faults.ts'
import { share } from './support/thorough.ts'

/** `npm run check:faults` runs 20,000 of srpt, and 2,000 of each of the others. */
for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  const count = share(policy === 'srpt' ? 300 : 120)
  test(`${policy} keeps every promise under ${count} seeds of faults`, () => {
    const { seeds, failures, ...sums } = runFaults({
      policy,
      from: 1,
      to: count,
      first: false,
    })
    const report = failures.map((failure) => `${failure.message}\n  ${reproduce(failure)}`)
    assert.deepEqual(report, [])
    // The faults were real: attempts were repeated, and late messages came.
    assert.equal(seeds, count)
    // Some are answered by a refusal: they waited too long, or were tried too often; of two queues heads are dropped.
    assert.ok(sums.results > 30 * count && sums.retries > 4 * count && sums.dropped > 4 * count)
    if (policy === 'srpt') assert.ok(sums.ranked > count / 3)
    // So were those of the provider.
    assert.ok(
      sums.givenUp > count && sums.strangers > count && sums.drained > count && sums.launches > 4 * count,
    )
    // And those of functions.
    assert.ok(sums.away > 2 * count && sums.awayFailed > count / 3)
  })
}
