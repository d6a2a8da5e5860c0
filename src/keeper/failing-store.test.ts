/** A keeper whose store fails, or whose lease is gone. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../lib/errors.ts'
import { MemoryJobStore } from '../store/memory.ts'
import type { JobStore } from '../store/store.ts'
import { noBody, order, resultOf, settle, startKeeper } from './testing/keeper-stand.ts'

test('a keeper whose lease another one has taken accepts nothing more', async (t) => {
  const stand = await startKeeper(t)
  await stand.store.lead('test', 1_000)
  await assert.rejects(
    stand.keeper.keep(order(), noBody),
    (error) => error instanceof StoreError && error.code === 'STORE_FENCED',
  )
  assert.equal(stand.isFenced(), true)
})

test('an answer that cannot be stored is stored later, and the job does not run again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const store = new MemoryJobStore()
  const stand = await startKeeper(t, store)
  const kept = await stand.keeper.keep(order(), noBody)
  const answer = store.answer.bind(store)
  store.answer = () => Promise.reject(new StoreError('the disk is full'))
  ;(await stand.sentUntil(1)).answer('done')
  await settle()
  store.answer = answer
  t.mock.timers.tick(60_000)
  await kept!.ended()
  assert.deepEqual([await resultOf(stand, kept!.id), stand.sent.length], ['done', 1])
})

test('a job of which the store did not say that it was written is run if it is there', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isWritten = true
  class Doubtful extends MemoryJobStore {
    override async accept(...args: Parameters<JobStore['accept']>): Promise<never> {
      if (isWritten) await super.accept(...args)
      throw new StoreError('the connection was lost', 'STORE_UNKNOWN')
    }
  }
  const store = new Doubtful()
  const stand = await startKeeper(t, store)
  const pass = async (...times: number[]) => {
    for (const ms of times) {
      await stand.settle()
      t.mock.timers.tick(ms)
    }
    await stand.settle()
  }
  const refused = async (body: string) => {
    const refusal = assert.rejects(stand.keeper.keep(order(), Buffer.from(body)), /the connection was lost/)
    // It is tried again a few times first.
    await pass(50, 250, 1_000)
    await refusal
  }
  await refused('there')
  assert.equal(stand.sent.length, 0)
  isWritten = false
  await refused('missing')
  await pass(1_000, 5_000, 30_000, 30_000)
  assert.equal(stand.sent.length, 1)
  stand.sent[0]!.answer('done')
  await stand.settle()
  assert.deepEqual(await Array.fromAsync(store.open()), [])
})

test('a keeper that may have lost its lease sends no jobs', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let leads = false
  const stand = await startKeeper(t, new MemoryJobStore(), 10, () => leads)
  await stand.keeper.keep(order(), Buffer.from('x'))
  t.mock.timers.tick(1_000)
  await stand.settle()
  assert.equal(stand.sent.length, 0)
  leads = true
  t.mock.timers.tick(1_000)
  await stand.settle()
  assert.equal(stand.sent.length, 1)
})
