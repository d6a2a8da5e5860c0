import assert from 'node:assert/strict'
import test from 'node:test'
import { addressFrom, listFrom } from './addresses.ts'

test('an address is a host and a port, and anything else is refused with examples', () => {
  assert.deepEqual(addressFrom('--join-address', '0.0.0.0:8082'), { host: '0.0.0.0', port: 8082 })
  assert.deepEqual(addressFrom('--join-address', 'brain.example:0'), { host: 'brain.example', port: 0 })
  assert.deepEqual(addressFrom('--join-address', '[::1]:1'), { host: '::1', port: 1 })
  for (const wrong of [
    '',
    '8082',
    'brain',
    'brain:',
    ':8082',
    'brain:65536',
    '::1:8082',
    'tls://brain:1',
    'a b:1',
    '[x]:1',
  ])
    assert.throws(
      () => addressFrom('--join-address', wrong),
      /--join-address = .*: must be HOST:PORT, such as 0\.0\.0\.0:8082/,
    )
})

test('a list is separated by commas', () => {
  assert.deepEqual(listFrom(' a.example,, b.example '), ['a.example', 'b.example'])
  assert.deepEqual(listFrom(''), [])
})
