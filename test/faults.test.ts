import assert from 'node:assert/strict'
import test from 'node:test'
import { type SchedulerName, schedulers } from '../src/brain/schedule/index.ts'
import { reproduce, runFaults } from './faults.ts'

for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  test(`${policy} keeps every promise under 250 seeds of faults`, () => {
    const { seeds, failures, ...sums } = runFaults({
      policy,
      from: 1,
      to: 250,
      first: false,
    })
    const report = failures.map((failure) => `${failure.message}\n  ${reproduce(failure)}`)
    assert.deepEqual(report, [])
    // The faults were real: attempts were repeated, and late messages came.
    assert.equal(seeds, 250)
    assert.ok(sums.results > 9_000 && sums.retries > 1000 && sums.dropped > 1000)
    if (policy === 'srpt') assert.ok(sums.ranked > 100)
    // So were those of the provider.
    assert.ok(sums.givenUp > 250 && sums.strangers > 250 && sums.drained > 250 && sums.launches > 1000)
  })
}
