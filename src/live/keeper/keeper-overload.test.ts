import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Readings } from '../../front/overload/steps.ts'
import { watchKeeper } from './keeper-overload.ts'

test('an overloaded keeper refuses long requests first, then all, and says when to try again', (t) => {
  let readings: Readings = {}
  const lines: string[] = []
  const overload = watchKeeper(0, (line) => lines.push(line), { read: () => readings, close() {} })
  t.after(() => overload.close())
  const refusals = (memory: number) => {
    readings = { memory }
    overload.look()
    return [overload.refusalMs(100), overload.refusalMs(1_000_000)].map((ms) => ms !== undefined && ms > 0)
  }
  assert.deepEqual(refusals(0.5), [false, false])
  assert.deepEqual(refusals(0.82), [false, true])
  assert.deepEqual(refusals(0.9), [true, true])
  assert.match(lines.join('\n'), /step 2 of 3, accepts no requests to be kept: memory is at 90 %/)
})
