import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../../lib/random.ts'
import { type Points, priorsOf } from './kernel.ts'
import { tune } from './tune.ts'

test('the memory of a search does not grow with its rounds', () => {
  const count = 160
  const random = stream(1, 'tune')
  const points: Points = {
    ...{ count, wide: 2, kinds: 0, levels: new Int32Array(0) },
    numbers: Float64Array.from({ length: 2 * count }, () => random.normal()),
  }
  const values = Float64Array.from(
    { length: count },
    (_, i) => Math.sin(points.numbers[2 * i]!) + 0.1 * random.normal(),
  )
  const doubts = new Float64Array(count).fill(1)
  const prior = Float64Array.from(priorsOf(points), ({ mean }) => mean)
  const bytes = () => process.memoryUsage().arrayBuffers
  const before = bytes()
  const found = tune(points, values, doubts, prior, 40)
  const matrixBytes = 8 * count * count
  assert.ok(bytes() - before < 10 * matrixBytes)
  assert.notDeepEqual(found, prior)
})
