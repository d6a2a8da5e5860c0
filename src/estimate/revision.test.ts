import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revisedWork } from './revision.ts'

test('an estimate stands until a job passes it by half', () => {
  for (const high of [undefined, 120, 5000]) {
    const said = { work: 100, ...(high !== undefined && { high }) }
    assert.equal(revisedWork(said, 0), 100)
    assert.equal(revisedWork(said, 149), 100)
    assert.ok(revisedWork(said, 150) > 150)
  }
})

test('without an interval, or against it, a job is taken to be half done', () => {
  assert.equal(revisedWork({ work: 100 }, 150), 300)
  assert.equal(revisedWork({ work: 100 }, 400), 800)
  assert.equal(revisedWork({ work: 100, high: 105 }, 150), 300)
  assert.equal(revisedWork({ work: 0 }, 5), 10)
})

test('half of those that got as far need no more', () => {
  // Costs spread by a log-logistic distribution around 100, 95 % of them below 2,000.
  const spread = Math.log(20) / Math.log(19)
  const share = (cost: number) => 1 / (1 + (cost / 100) ** (1 / spread))
  for (const done of [150, 300, 1000]) {
    const revised = revisedWork({ work: 100, high: 2000 }, done)
    assert.ok(Math.abs(share(revised) / share(done) - 0.5) < 1e-9, `${revised} after ${done}`)
  }
})

test('more done is more expected', () => {
  for (const high of [110, 150, 400, 1e4, 1e9]) {
    let before = 0
    for (let done = 150; done < 1e6; done *= 1.3) {
      const revised = revisedWork({ work: 100, high }, done)
      assert.ok(revised > done && revised < Infinity)
      assert.ok(revised >= before * 0.99, `${revised} after ${before}`)
      before = Math.min(revised, done * 2)
    }
  }
})
