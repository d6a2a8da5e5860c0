import assert from 'node:assert/strict'
import test from 'node:test'
import { Backoff } from './backoff.ts'
import { fillIn } from './command.ts'

test('tries are put off from half a second to half a minute, and anew after a minute of health', () => {
  const backoff = new Backoff()
  const waits = Array.from({ length: 8 }, () => backoff.next(0))
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  assert.equal(backoff.next(59_999), 30_000)
  assert.equal(backoff.next(60_000), 500)
})

test('where to listen is put in wherever the command names it', () => {
  assert.deepEqual(fillIn(['app', '--at=:{port}', '{port}'], { port: 8000 }), ['app', '--at=:8000', '8000'])
  assert.deepEqual(fillIn(['app', 'unix:{socket}'], { socket: '/tmp/s' }), ['app', 'unix:/tmp/s'])
})
