import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { BodyBudget, type BodyShare } from './body-budget.ts'

fc.configureGlobal({ seed: 1 })

const kib = 1024

function budgetOf(memoryBytes: number, diskBytes: number) {
  let ms = 0
  const budget = new BodyBudget({ memoryBytes, diskBytes, now: () => ms })
  const ended: string[] = []
  return {
    budget,
    ended,
    pass: (byMs: number) => {
      ms += byMs
    },
    open(name: string): BodyShare {
      const share: BodyShare = budget.open(() => {
        ended.push(name)
        share.release()
      })
      return share
    },
  }
}

test('a body that does not fit is refused, and fits once another is released', () => {
  const { budget, open } = budgetOf(100, 1000)
  const [a, b] = [open('a'), open('b')]
  assert.ok(a.keepInMemory(80))
  assert.ok(!b.keepInMemory(21))
  assert.ok(b.keepInFile(900))
  assert.ok(!a.keepInFile(101))
  assert.equal(budget.hasRoom(20, 50), true)
  assert.equal(budget.hasRoom(101, 50), false)
  b.release()
  b.release()
  assert.ok(a.moveToFile(80))
  assert.equal(budget.memoryBytes, 80, 'memory is free only when the file is written')
  a.movedToFile()
  a.movedToFile()
  assert.deepEqual([budget.memoryBytes, budget.diskBytes], [0, 80])
  a.release()
  assert.deepEqual([budget.memoryBytes, budget.diskBytes], [0, 0])
  assert.ok(!a.keepInMemory(1), 'a released share holds nothing more')
})

test('a body larger than the whole budget never fits, and ends no other', () => {
  const { budget, open, ended, pass } = budgetOf(0, 1000)
  open('slow').keepInFile(500)
  pass(60_000)
  assert.equal(budget.hasRoom(1001, 0), false)
  assert.equal(budget.refusal(1001, 0)?.status, 413)
  assert.deepEqual(ended, [])
  assert.equal(budget.refusal(500, 0), undefined)
})

test('a stalled body is ended when others need its space, but a complete or a fast one is not', () => {
  const { budget, open, ended, pass } = budgetOf(0, 1000 * kib)
  const complete = open('complete')
  assert.ok(complete.keepInFile(200 * kib))
  complete.complete()
  const stalled = open('stalled')
  assert.ok(stalled.keepInFile(400 * kib))
  pass(9_000)
  const fast = open('fast')
  assert.ok(fast.keepInFile(300 * kib))
  assert.ok(!fast.keepInFile(200 * kib), 'it has been silent for 9 s only')
  pass(1_000)
  assert.ok(fast.keepInFile(200 * kib))
  assert.deepEqual(ended, ['stalled'])
  assert.equal(budget.diskBytes, 700 * kib)
})

test('a body that trickles is as slow as a stalled one; one that keeps up its pace is not', () => {
  const { open, ended, pass } = budgetOf(0, 1000 * kib)
  const [trickle, steady, other] = [open('trickle'), open('steady'), open('other')]
  for (const share of [trickle, steady]) assert.ok(share.keepInFile(400 * kib))
  for (let second = 0; second < 12; second++) {
    pass(1_000)
    assert.ok(trickle.keepInFile(1))
    assert.ok(steady.keepInFile(8 * kib))
  }
  assert.ok(other.keepInFile(300 * kib))
  assert.deepEqual(ended, ['trickle'])
})

test('what is held is never above the budget, and nothing is left when all are released', () => {
  const step = fc.record({
    body: fc.nat(4),
    bytes: fc.nat(400),
    how: fc.constantFrom('memory', 'file', 'move', 'moved', 'complete', 'release', 'pass'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { budget, open, pass } = budgetOf(500, 1000)
      const shares = Array.from({ length: 5 }, (_, i) => open(`${i}`))
      for (const { body, bytes, how } of steps) {
        const share = shares[body]!
        if (how === 'memory') share.keepInMemory(bytes)
        else if (how === 'file') share.keepInFile(bytes)
        else if (how === 'move') share.moveToFile(bytes)
        else if (how === 'moved') share.movedToFile()
        else if (how === 'complete') share.complete()
        else if (how === 'release') share.release()
        else pass(bytes * 100)
        assert.ok(budget.memoryBytes >= 0 && budget.memoryBytes <= 500)
        assert.ok(budget.diskBytes >= 0 && budget.diskBytes <= 1000)
      }
      for (const share of shares) share.release()
      assert.deepEqual([budget.memoryBytes, budget.diskBytes], [0, 0])
    }),
    { numRuns: 1000 },
  )
})
