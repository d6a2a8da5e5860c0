/** The backlog: bounded, in order, and exact about what was lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Backlog } from './backlog.ts'
import { sampleRow } from './contract.ts'

// The same cases in every run: a failure must be found, not met by chance.
fc.configureGlobal({ seed: 1 })

const wide = { maxRows: 100, maxCharacters: 1_000 }

function backlogOf(count: number, maxRows: number): Backlog {
  const backlog = new Backlog({ ...wide, maxRows })
  for (let number = 0; number < count; number++) backlog.push(sampleRow(number))
  return backlog
}

const jobs = (backlog: Backlog, limits = wide) => backlog.batch(limits).map((row) => row.job)

test('a batch that failed is offered again', () => {
  const backlog = backlogOf(3, 10)
  assert.deepEqual(jobs(backlog, { ...wide, maxRows: 2 }), ['job-0', 'job-1'])
  backlog.settle(false)
  assert.deepEqual(jobs(backlog), ['job-0', 'job-1', 'job-2'])
  backlog.settle(true)
  assert.deepEqual(jobs(backlog), [])
  assert.equal(backlog.lost, 0)
})

test('rows pushed out of a batch are lost only if the batch fails', () => {
  for (const written of [true, false]) {
    const backlog = backlogOf(3, 3)
    backlog.batch({ ...wide, maxRows: 2 })
    for (const number of [3, 4, 5]) backlog.push(sampleRow(number))
    backlog.settle(written)
    assert.equal(backlog.lost, written ? 1 : 3)
    assert.deepEqual(jobs(backlog), ['job-3', 'job-4', 'job-5'])
  }
})

test('text bounds the backlog and its batches, but a batch is never empty', () => {
  const backlog = new Backlog({ maxRows: 100, maxCharacters: 10 })
  for (const number of [1, 2, 3])
    backlog.push(sampleRow(number, { parameters: '123', features: '4', key: '5' }))
  assert.equal(backlog.lost, 1)
  assert.deepEqual(jobs(backlog, { maxRows: 100, maxCharacters: 1 }), ['job-2'])
  backlog.settle(true)
  backlog.push(sampleRow(4, { parameters: 'too long for this' }))
  assert.equal(backlog.size, 0)
  assert.equal(backlog.lost, 3)
})

test('who waits is told once, when the last of its rows is settled', () => {
  const backlog = backlogOf(3, 3)
  const told: string[] = []
  backlog.wait((lost) => told.push(`first ${lost}`))
  const giveUp = backlog.wait((lost) => told.push(`gave up ${lost}`))
  giveUp()
  backlog.push(sampleRow(3))
  backlog.wait((lost) => told.push(`second ${lost}`))
  backlog.batch({ ...wide, maxRows: 2 })
  backlog.settle(true)
  assert.deepEqual(told, ['first 1'])
  backlog.batch(wide)
  backlog.settle(true)
  assert.deepEqual(told, ['first 1', 'second 0'])
  backlog.wait((lost) => told.push(`nothing to wait for ${lost}`))
  assert.deepEqual(told, ['first 1', 'second 0', 'nothing to wait for 0'])
})

test('every row is written once, or counted as lost, in any order of events', () => {
  const event = fc.oneof(
    fc.record({ push: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ batch: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ written: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const backlog = new Backlog({ maxRows: 1_000, maxCharacters: Infinity })
      const written: string[] = []
      let pushed = 0
      let batch: string[] | undefined
      for (const each of events) {
        if ('push' in each) for (let i = 0; i < each.push; i++) backlog.push(sampleRow(pushed++))
        else if ('batch' in each) batch ??= jobs(backlog, { maxRows: each.batch, maxCharacters: Infinity })
        else if (batch) {
          backlog.settle(each.written)
          if (each.written) written.push(...batch)
          batch = undefined
        }
      }
      if (batch) backlog.settle(false)
      assert.equal(new Set(written).size, written.length)
      assert.deepEqual(
        written,
        written.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4))),
      )
      assert.equal(written.length + backlog.lost + backlog.size, pushed)
      assert.ok(backlog.size <= 1_000)
    }),
    { seed: 1, numRuns: 100 },
  )
})
