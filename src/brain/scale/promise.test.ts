import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { promiseOf, usualPromise } from './promise.ts'

test('slowdowns are promised in words, and missing parts have defaults', () => {
  assert.deepEqual(promiseOf(undefined), usualPromise)
  assert.deepEqual(
    promiseOf('shortest 90 %: slowdown at most 1.5 at p99; largest 1 %: at most 1.5 on average'),
    usualPromise,
  )
  assert.deepEqual(promiseOf('Largest 5%: at most 3 on average').largest, { share: 0.05, slowdown: 3 })
  assert.deepEqual(promiseOf('shortest 50 %: at most 2 at p99.9').short, {
    ...{ share: 0.5, slowdown: 2, percent: 99.9 },
  })
})

test('so are deadlines and a budget', () => {
  assert.equal(promiseOf('deadlines: 99 %').deadlinesPercent, 99)
  assert.equal(promiseOf('budget: 5 an hour').budgetPerHour, 5)
  assert.equal(promiseOf('deadlines: met 95%; budget: at most 2.5 per hour').budgetPerHour, 2.5)
})

test('an invalid promise is rejected with what is allowed', () => {
  const refused = (text: string, message: RegExp) =>
    assert.throws(
      () => promiseOf(text),
      (error) => error instanceof ConfigError && message.test(error.message),
    )
  refused('fast', /^scale\.promise = fast: must be parts like "shortest 90 %: slowdown at most 1\.5 at p99"/)
  refused('', /must be parts like/)
  refused('largest 1 %: at most 1 on average', /slowdown at most 1: must be above 1/)
  refused('shortest 0 %: at most 2 at p99', /shortest 0 %: must be above 0/)
  refused('shortest 90 %: at most 2 at p100', /p100: must be above p0 and below p100/)
  refused('deadlines: 100 %', /deadlines: 100 %: must be above 0 and below 100 %/)
  refused('budget: 0 an hour', /budget: 0 an hour: must be above 0/)
})
