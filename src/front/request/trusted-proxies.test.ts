import assert from 'node:assert/strict'
import test from 'node:test'
import { readProxies, trustedProxies } from './trusted-proxies.ts'

test('an address or a block trusts exactly its addresses', () => {
  const isTrusted = trustedProxies(readProxies('10.0.0.0/8, 192.0.2.7,fd00::/8', '--trusted-proxies'))
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', 'fd12::1', 'fd12::1%eth0']) {
    assert.equal(isTrusted(address), true, address)
  }
  for (const address of ['11.0.0.1', '192.0.2.8', '::1', 'fe80::1', '', 'unknown', undefined]) {
    assert.equal(isTrusted(address), false, address)
  }
})

test('no proxy is trusted by default', () => {
  assert.equal(trustedProxies([])('127.0.0.1'), false)
})

test('an invalid block is rejected with what is allowed', () => {
  for (const [text, proxy] of [
    ['', 'nothing'],
    ['10.0.0.1,', 'nothing'],
    ['10.0.0.0/33', '10.0.0.0/33'],
    ['::/129', '::/129'],
    ['localhost', 'localhost'],
    ['10.0.0.0/', '10.0.0.0/'],
    ['10.0.0', '10.0.0'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ] as const) {
    assert.throws(() => readProxies(text, '--trusted-proxies'), {
      code: 'CONFIG',
      message: `--trusted-proxies = ${text}: ${proxy} must be an address or a block such as 10.0.0.0/8 or fd00::/8`,
    })
  }
})
