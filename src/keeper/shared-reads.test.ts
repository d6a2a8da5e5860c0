import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedReads } from './shared-reads.ts'

function counted() {
  const its = { reads: 0, fails: false, now: 0 }
  const store = {
    job: async () => {
      its.reads++
      if (its.fails) throw new Error('the store fails')
      return undefined
    },
  }
  return { its, shared: new SharedReads(store, 900, () => its.now) }
}

test('followers of an open job share a read for a while', async () => {
  const { its, shared } = counted()
  await Promise.all(Array.from({ length: 100 }, () => shared.job('a', true)))
  assert.equal(its.reads, 1)
  its.now = 899
  await shared.job('a', true)
  assert.equal(its.reads, 1)
  its.now = 900
  await shared.job('a', true)
  await shared.job('b', true)
  assert.equal(its.reads, 3)
})

test('a job that is not known to be open, or could not be read, is read again', async () => {
  const { its, shared } = counted()
  await shared.job('a', true)
  await shared.job('a', false)
  assert.equal(its.reads, 2)
  its.fails = true
  its.now = 1_000
  await assert.rejects(shared.job('a', true))
  its.fails = false
  await shared.job('a', true)
  assert.equal(its.reads, 4)
})
