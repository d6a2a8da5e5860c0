import assert from 'node:assert/strict'
import test from 'node:test'
import { Backoff } from './backoff.ts'
import { fillPlaceholders } from './command.ts'

test('restarts are delayed by 0.5 s to 30 s, and a minute of health resets the delay', () => {
  const backoff = new Backoff()
  const waits = Array.from({ length: 8 }, () => backoff.next(0))
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  assert.equal(backoff.next(59_999), 30_000)
  assert.equal(backoff.next(60_000), 500)
})

test('placeholders in the command are replaced by the address', () => {
  assert.deepEqual(fillPlaceholders(['app', '--at=:{port}', '{port}'], { port: 8000 }), [
    'app',
    '--at=:8000',
    '8000',
  ])
  assert.deepEqual(fillPlaceholders(['app', 'unix:{socket}'], { socket: '/tmp/s' }), ['app', 'unix:/tmp/s'])
})
