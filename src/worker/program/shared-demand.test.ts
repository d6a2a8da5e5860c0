import assert from 'node:assert/strict'
import test from 'node:test'
import { SharedDemand } from './shared-demand.ts'

/** Feeds readings 50 ms apart, and returns whether the job was busy in each interval. */
function busyIn(...readings: [programMs: number | undefined, bytes: number | undefined][]): boolean[] {
  const demand = new SharedDemand()
  let before = 0
  return readings
    .map(([programMs, bytes], i) => {
      const ms = demand.read({ at: i * 50, programMs, bytes })
      const busy = ms > before
      before = ms
      return busy
    })
    .slice(1)
}

test('a job is busy before its answer begins, unless its whole program is idle', () => {
  assert.deepEqual(busyIn([0, undefined], [40, undefined], [41, undefined]), [true, false])
})

test('a job whose answer has begun is busy only while bytes move', () => {
  assert.deepEqual(busyIn([0, undefined], [50, 10], [100, 10], [150, 90]), [true, false, true])
})

test('a job on an upstream, whose CPU time is unknown, is judged by its bytes alone', () => {
  const unknown = undefined
  assert.deepEqual(busyIn([unknown, unknown], [unknown, unknown], [unknown, 5], [unknown, 5]), [
    true,
    true,
    false,
  ])
})
