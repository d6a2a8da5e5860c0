import assert from 'node:assert/strict'
import test from 'node:test'
import { ReaderPace } from './reader-pace.ts'

async function isWaiting(waiting: Promise<void>): Promise<boolean> {
  const turn = new Promise<boolean>((resolve) => setTimeout(resolve, 5, true))
  return Promise.race([waiting.then(() => false), turn])
}

test('a body that nobody reads does not wait', async () => {
  const pace = new ReaderPace()
  assert.equal(await isWaiting(pace.wait(1e9)), false)
})

test('a body waits until its reader is not far behind', async () => {
  const pace = new ReaderPace()
  pace.reads(0)
  assert.equal(await isWaiting(pace.wait(200_000)), false)
  const waiting = pace.wait(1_000_000)
  assert.equal(await isWaiting(waiting), true)
  pace.reads(500_000)
  assert.equal(await isWaiting(waiting), true)
  pace.reads(900_000)
  await waiting
})

test('a slow reader is waited for half a second in all', async () => {
  const pace = new ReaderPace()
  pace.reads(0)
  const began = performance.now()
  await pace.wait(1_000_000)
  await pace.wait(2_000_000)
  const ms = performance.now() - began
  assert.ok(ms > 450, `${ms} ms`)
  assert.equal(await isWaiting(pace.wait(3_000_000)), false)
})
