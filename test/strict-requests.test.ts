/** The reader with which `check:hostile` judges what a front sends to a server. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { strictRequests } from './support/hostile/tricks/strict-requests.ts'
import { tricks } from './support/hostile/tricks/table.ts'

test('plain requests are read with their bodies, and an unfinished one does not count', () => {
  const get = 'GET /a?b HTTP/1.1\r\nhost: x\r\n\r\n'
  const post = 'POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'
  const chunked =
    'POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\nx: y\r\n\r\n'
  const all = strictRequests(get + post + chunked + get + post.slice(0, -1))
  assert.deepEqual(
    all.map(({ target, bodyBytes }) => [target, bodyBytes]),
    [
      ['/a?b', 0],
      ['/b', 3],
      ['/c', 10],
      ['/a?b', 0],
    ],
  )
})

test('the strict reader finds no hidden request behind a request that must be refused', () => {
  const names = new Set(tricks.map(({ name }) => name))
  assert.equal(names.size, tricks.length, 'each trick has a name of its own')
  const passed = tricks
    .filter(({ outcome, bytes }) => {
      if (outcome !== 'refused') return false
      try {
        return strictRequests(bytes('t')).some(({ target }) => target.includes('t-hidden'))
      } catch {
        return false
      }
    })
    .map(({ name }) => name)
  assert.deepEqual(passed, [])
})
