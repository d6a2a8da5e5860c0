import assert from 'node:assert/strict'
import test from 'node:test'
import { isLoopback } from './loopback.ts'

test('loopback addresses and names are recognised, and names that only resemble them are not', () => {
  for (const host of [
    '127.0.0.1',
    '127.8.9.10',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    'localhost',
    'a.LocalHost',
  ])
    assert.ok(isLoopback(host), host)
  for (const host of ['', '10.0.0.1', '0.0.0.0', '::', '127.0.0.1.evil.example', '127.evil', 'notlocalhost'])
    assert.ok(!isLoopback(host), host)
})
