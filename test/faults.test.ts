import assert from 'node:assert/strict'
import test from 'node:test'
import { type SchedulerName, schedulers } from '../src/brain/schedule/index.ts'
import { reproduce, runFaults } from './faults.ts'

for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  test(`${policy} keeps every promise under 250 seeds of faults`, () => {
    const { seeds, results, retries, ranked, dropped, away, awayFailed, failures } = runFaults({
      policy,
      from: 1,
      to: 250,
      first: false,
    })
    const report = failures.map((failure) => `${failure.message}\n  ${reproduce(failure)}`)
    assert.deepEqual(report, [])
    // The faults were real: attempts were repeated, and late messages came.
    assert.equal(seeds, 250)
    assert.ok(results > 9_000 && retries > 1000 && dropped > 1000)
    assert.ok(away > 500 && awayFailed > 100)
    if (policy === 'srpt') assert.ok(ranked > 100)
  })
}
