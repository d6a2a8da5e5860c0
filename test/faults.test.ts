import assert from 'node:assert/strict'
import test from 'node:test'
import { chaos } from '../src/simulate/chaos.ts'
import { type SchedulerName, schedulers } from '../src/systems/schedulers.ts'
import { reproduce, runFaults } from './checks/faults.ts'
import { share } from './support/thorough.ts'

/** `npm run check:faults` runs 20,000 seeds of srpt, and 2,000 of each other policy. */
for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  const count = share(policy === 'srpt' ? 300 : 120)
  test(`${policy} violates no invariant in ${count} seeds with faults`, () => {
    const { seeds, failures, ...sums } = runFaults({
      policy,
      from: 1,
      to: count,
      first: false,
    })
    const report = failures.map((failure) => `${failure.message}\n  ${reproduce(failure)}`)
    assert.deepEqual(report, [])
    // The faults were real: attempts were retried, and superseded messages arrived.
    assert.equal(seeds, count)
    // Some jobs are rejected after too long a wait or too many attempts; the tiered system drops the heads of its queues.
    assert.ok(sums.results > 22 * count && sums.retries > 4 * count && sums.dropped > 4 * count)
    if (policy === 'srpt') assert.ok(sums.ranked > count / 3 && sums.held > 0 && sums.ejected > 0)
    // Faults of the provider.
    assert.ok(
      sums.givenUp > count && sums.strangers > count && sums.drained > count && sums.launches > 4 * count,
    )
    // Pauses of the brain; silent workers that were not declared lost at once; outliers.
    assert.ok(sums.pauses > count && sums.held + sums.ejected > 0)
    // Brains that died while attempts ran.
    assert.ok(sums.adopted > 0)
    // Jobs shed under pressure.
    assert.ok(sums.shed > count)
    // Faults of functions.
    assert.ok(sums.away > 2 * count && sums.awayFailed > count / 3)
  })
}

test('jobs of a seed with faults can be left out', () => {
  const all = new Set(Array.from({ length: 100 }, (_, number) => number))
  assert.equal(chaos('srpt', 4, { leftOut: all, faultsUntilMs: 500 }).results, 0)
  all.delete(0)
  assert.ok(chaos('srpt', 4, { leftOut: all, faultsUntilMs: 500 }).results <= 1)
})
