import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../reading.ts'
import type { FitRow } from './data.ts'
import { inlineFitter, threadFitter } from './fitter.ts'

const rows: FitRow[] = Array.from({ length: 30 }, (_, i) => ({
  reading: read({ size: 1 + ((i * 37) % 100), kind: i % 3 === 0 ? 'slow' : 'quick' }),
  log: Math.log((1 + ((i * 37) % 100)) * (i % 3 === 0 ? 10 : 1)),
  doubt: 1,
}))

test('the thread fits the same model as the caller would', async () => {
  const fitter = threadFitter((line) => assert.fail(line))
  try {
    const there = await fitter.fit(30, () => rows, { posts: 16 })
    assert.deepEqual(there, await inlineFitter().fit(30, () => rows, { posts: 16 }))
    assert.ok(there)
  } finally {
    await fitter.close()
  }
})

test('a fitter that is closed, before or during a fit, returns no model', async () => {
  const fitter = threadFitter((line) => assert.fail(line))
  const underWay = fitter.fit(30, () => rows, { posts: 16 })
  await fitter.close()
  assert.equal(await underWay, undefined)
  assert.equal(await fitter.fit(30, () => rows, { posts: 16 }), undefined)
})

test('too few rows give no model', async () => {
  assert.equal(await inlineFitter().fit(0, () => [], { posts: 16 }), undefined)
  assert.equal(await inlineFitter().fit(3, () => rows.slice(0, 3), { posts: 16 }), undefined)
})

test('large fits run one at a time with the rows of that moment, and small fits do not wait', async (t) => {
  const fitter = threadFitter((line) => assert.fail(line), { rest: Infinity })
  t.after(() => fitter.close())
  const collected: string[] = []
  const from = (name: string) => () => {
    collected.push(name)
    return rows
  }
  const first = fitter.fit(1000, from('first'), { posts: 16 })
  const second = fitter.fit(1000, from('second'), { posts: 16 })
  assert.ok(await first)
  assert.ok(await fitter.fit(30, from('small'), { posts: 16 }))
  assert.deepEqual(collected, ['first', 'small'])
  await fitter.close()
  assert.equal(await second, undefined)
})
