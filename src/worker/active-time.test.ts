import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActiveTime } from './active-time.ts'

/** The active time after each of these intervals of a core, in which the job wanted a core for `wantedMs`. */
function after(...intervals: { coreMs: number; wantedMs: number }[]): (number | undefined)[] {
  const time = new ActiveTime()
  let [allCoreMs, demandMs] = [0, 0]
  return intervals.map(({ coreMs, wantedMs }) => {
    allCoreMs += coreMs
    demandMs += wantedMs
    return time.read(allCoreMs, demandMs)
  })
}

test('a job that computes, or is starved of a core, is active all the time that it is allowed one', () => {
  assert.deepEqual(after({ coreMs: 2000, wantedMs: 2000 }, { coreMs: 1000, wantedMs: 1000 }), [2000, 3000])
})

test('a job that computes now and then is active for as long as it computes', () => {
  assert.deepEqual(after({ coreMs: 2000, wantedMs: 200 }, { coreMs: 1000, wantedMs: 100 }), [200, 300])
})

test('threads on several cores count as one', () => {
  assert.deepEqual(after({ coreMs: 2000, wantedMs: 8000 }), [2000])
})

test('a stopped process, which wants no core and does not wait, counts as active', () => {
  assert.deepEqual(after({ coreMs: 2000, wantedMs: 2000 }, { coreMs: 1000, wantedMs: 0 }), [2000, 3000])
})

test('the active time of a job whose CPU time is not known is not known', () => {
  assert.equal(new ActiveTime().read(5000, undefined), undefined)
})
