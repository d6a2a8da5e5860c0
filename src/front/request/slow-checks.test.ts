import assert from 'node:assert/strict'
import test from 'node:test'
import { SlowChecks } from './slow-checks.ts'

function checksOf() {
  const lines: string[] = []
  const checks = new SlowChecks((line) => lines.push(line))
  const note = (ms: number, times = 1) => {
    for (let i = 0; i < times; i++) checks.note('w', ms)
    return checks.has('w')
  }
  return { lines, note }
}

test('a workload is slow when its checks take more than a millisecond on average', () => {
  const { note, lines } = checksOf()
  assert.equal(note(2, 10), false)
  assert.equal(note(2), true)
  assert.deepEqual(lines, [
    'workload w: its parameters take more than 1 ms to check, so a thread checks them from now on',
  ])
})

test('a slow first call and garbage collections do not make a workload slow', () => {
  const { note } = checksOf()
  assert.equal(note(7), false)
  for (let i = 0; i < 100; i++) {
    assert.equal(note(3), false)
    assert.equal(note(0.05, 10), false)
  }
})

test('one check of more than 100 ms is enough, and many quick ones return it to the event loop', () => {
  const { note, lines } = checksOf()
  assert.equal(note(101), true)
  assert.equal(note(0.1, 40), true)
  assert.equal(note(0.1, 10), false)
  assert.equal(lines.length, 2)
})
