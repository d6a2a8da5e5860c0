/** The row buffer is bounded, keeps rows in order, and counts lost rows exactly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RowBuffer } from './row-buffer.ts'
import { sampleRow } from './testing/samples.ts'

// A fixed seed runs the same cases every time.
fc.configureGlobal({ seed: 1 })

const wide = { maxRows: 100, maxCharacters: 1_000 }

function bufferOf(count: number, maxRows: number): RowBuffer {
  const buffer = new RowBuffer({ ...wide, maxRows })
  for (let number = 0; number < count; number++) buffer.push(sampleRow(number))
  return buffer
}

const jobs = (buffer: RowBuffer, limits = wide) => buffer.batch(limits).map((row) => row.job)

test('a batch that failed is offered again', () => {
  const buffer = bufferOf(3, 10)
  assert.deepEqual(jobs(buffer, { ...wide, maxRows: 2 }), ['job-0', 'job-1'])
  buffer.settle(false)
  assert.deepEqual(jobs(buffer), ['job-0', 'job-1', 'job-2'])
  buffer.settle(true)
  assert.deepEqual(jobs(buffer), [])
  assert.equal(buffer.lost, 0)
})

test('rows dropped from a batch in progress are lost only if the batch fails', () => {
  for (const written of [true, false]) {
    const buffer = bufferOf(3, 3)
    buffer.batch({ ...wide, maxRows: 2 })
    for (const number of [3, 4, 5]) buffer.push(sampleRow(number))
    buffer.settle(written)
    assert.equal(buffer.lost, written ? 1 : 3)
    assert.deepEqual(jobs(buffer), ['job-3', 'job-4', 'job-5'])
  }
})

test('text length bounds the buffer and its batches, but a batch has at least one row', () => {
  const buffer = new RowBuffer({ maxRows: 100, maxCharacters: 10 })
  for (const number of [1, 2, 3])
    buffer.push(sampleRow(number, { parameters: '123', features: '4', key: '5' }))
  assert.equal(buffer.lost, 1)
  assert.deepEqual(jobs(buffer, { maxRows: 100, maxCharacters: 1 }), ['job-2'])
  buffer.settle(true)
  buffer.push(sampleRow(4, { parameters: 'too long for this' }))
  assert.equal(buffer.size, 0)
  assert.equal(buffer.lost, 3)
})

test('a waiter is called once, when the last of its rows is settled', () => {
  const buffer = bufferOf(3, 3)
  const calls: string[] = []
  buffer.wait((lost) => calls.push(`first ${lost}`))
  const cancel = buffer.wait((lost) => calls.push(`cancelled ${lost}`))
  cancel()
  buffer.push(sampleRow(3))
  buffer.wait((lost) => calls.push(`second ${lost}`))
  buffer.batch({ ...wide, maxRows: 2 })
  buffer.settle(true)
  assert.deepEqual(calls, ['first 1'])
  buffer.batch(wide)
  buffer.settle(true)
  assert.deepEqual(calls, ['first 1', 'second 0'])
  buffer.wait((lost) => calls.push(`nothing pending ${lost}`))
  assert.deepEqual(calls, ['first 1', 'second 0', 'nothing pending 0'])
})

test('every row is written once or counted as lost, in any order of events', () => {
  const event = fc.oneof(
    fc.record({ push: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ batch: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ written: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const buffer = new RowBuffer({ maxRows: 1_000, maxCharacters: Infinity })
      const written: string[] = []
      let pushed = 0
      let batch: string[] | undefined
      for (const each of events) {
        if ('push' in each) for (let i = 0; i < each.push; i++) buffer.push(sampleRow(pushed++))
        else if ('batch' in each) batch ??= jobs(buffer, { maxRows: each.batch, maxCharacters: Infinity })
        else if (batch) {
          buffer.settle(each.written)
          if (each.written) written.push(...batch)
          batch = undefined
        }
      }
      if (batch) buffer.settle(false)
      assert.equal(new Set(written).size, written.length)
      assert.deepEqual(
        written,
        written.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4))),
      )
      assert.equal(written.length + buffer.lost + buffer.size, pushed)
      assert.ok(buffer.size <= 1_000)
    }),
    { seed: 1, numRuns: 100 },
  )
})
