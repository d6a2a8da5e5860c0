import assert from 'node:assert/strict'
import test from 'node:test'
import { bearer, newTokens } from '../wire/token.ts'
import { joinRefusal, operatorRefusal, type Sender, senderRefusal } from './guard.ts'

const tokens = newTokens()
const local = { host: '127.0.0.1', names: [], tokens }
const open = { host: '0.0.0.0', names: ['admin.example'], tokens }

function sender(headers: Sender['headers'], method = 'GET', localAddress = '10.0.0.5'): Sender {
  return { method, headers, socket: { localAddress, remoteAddress: '10.0.0.9' } }
}

test('a Host header must name this machine, the admin address or an allowed name', () => {
  for (const host of [
    '127.0.0.1:8081',
    'localhost',
    'LOCALHOST:1',
    '[::1]:8081',
    '127.0.0.2',
    'a.localhost:8081',
    'localhost.',
  ])
    assert.equal(senderRefusal(sender({ host }), local), undefined, host)
  for (const host of [
    undefined,
    '',
    'evil.example',
    'evil.example:8081',
    '127.0.0.1.evil.example',
    'localhost.evil',
    '1.2.3.4',
    '[::2]',
  ])
    assert.equal(senderRefusal(sender(host === undefined ? {} : { host }), local)?.status, 421, host)
  for (const host of ['admin.example:8081', 'ADMIN.example.', '10.0.0.5:8081'])
    assert.equal(senderRefusal(sender({ host }), open), undefined, host)
  for (const host of ['10.0.0.6', 'other.example'])
    assert.equal(senderRefusal(sender({ host }), open)?.status, 421, host)
  assert.match(
    senderRefusal(sender({ host: 'evil.example' }), local)!.message,
    /^Host = evil\.example: must be/,
  )
})

test('requests that a browser sends for another site are refused, and its own requests are not', () => {
  const host = '127.0.0.1:8081'
  for (const headers of [
    {},
    { origin: `http://${host}` },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
  ])
    assert.equal(senderRefusal(sender({ host, ...headers }), local), undefined, JSON.stringify(headers))
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3000' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: `http://${host}`, 'sec-fetch-site': 'cross-site' },
  ])
    assert.equal(
      senderRefusal(sender({ host, ...headers }), local)?.code,
      'cross-site',
      JSON.stringify(headers),
    )
})

test('changes need the operator token on loopback too, reading only elsewhere', () => {
  const authorization = bearer(tokens.operator)
  for (const method of ['GET', 'HEAD']) {
    assert.equal(operatorRefusal(sender({}, method), local), undefined)
    assert.equal(operatorRefusal(sender({}, method), open)?.status, 401)
    assert.equal(operatorRefusal(sender({ authorization }, method), open), undefined)
  }
  for (const access of [local, open]) {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal(operatorRefusal(sender({}, method), access)?.status, 401)
      assert.equal(operatorRefusal(sender({ authorization }, method), access), undefined)
      const wrong = operatorRefusal(sender({ authorization: bearer(tokens.worker) }, method), access)
      assert.deepEqual(wrong, {
        ...{ status: 403, code: 'not-authorized' },
        message: 'This is the worker token; the operator token is required.',
      })
    }
  }
})

test('workers and fronts join at the admin port only from this machine', () => {
  assert.equal(joinRefusal({ ...sender({}), socket: { remoteAddress: '::ffff:127.0.0.1' } }), undefined)
  assert.equal(
    joinRefusal({ ...sender({}), socket: { remoteAddress: '10.0.0.5', localAddress: '10.0.0.5' } }),
    undefined,
  )
  assert.match(joinRefusal(sender({}))!.message, /over TLS: start the cluster with --join-address/)
})
