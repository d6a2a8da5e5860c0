import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInner, targetProblem } from './targets.ts'

test('addresses of inner networks are recognized in all their forms', () => {
  for (const address of [
    ...[
      '127.0.0.1',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
    ],
    ...[
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      'no address',
    ],
  ])
    assert.ok(isInner(address), address)
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.ok(!isInner(address), address)
})

test('webhooks go only to hosts that the configuration allows', () => {
  const hosts = ['hooks.example', '*.inner.example']
  assert.equal(targetProblem('https://hooks.example/a?b', hosts), undefined)
  assert.equal(targetProblem('http://a.inner.example:8080', hosts), undefined)
  assert.equal(
    targetProblem('https://other.example', hosts),
    'must be at one of the hosts hooks.example, *.inner.example',
  )
  assert.match(targetProblem('https://inner.example', hosts)!, /one of the hosts/)
  assert.match(targetProblem('https://hooks.example', [])!, /sends no webhooks/)
})

test('with * every public host is allowed, and inner addresses only by name', () => {
  assert.equal(targetProblem('https://anything.example', ['*']), undefined)
  assert.equal(targetProblem('http://127.0.0.1:9', ['*', '127.0.0.1']), undefined)
  assert.equal(targetProblem('http://localhost:9', ['*', 'localhost']), undefined)
  for (const inner of [
    ...['http://127.0.0.1:9', 'http://[::1]/', 'http://2130706433/', 'http://0x7f.1/'],
    ...['http://localhost:9', 'http://a.localhost', 'http://LOCALHOST./'],
  ])
    assert.match(
      targetProblem(inner, ['*'])!,
      /^must not be on an inner network, unless --webhook-hosts/,
      inner,
    )
})

test('addresses that are not HTTP, or hold a password, are refused', () => {
  for (const bad of ['ftp://hooks.example', 'hooks.example', '', 'file:///etc/passwd'])
    assert.equal(targetProblem(bad, ['*']), 'must be an http or https address', bad)
  assert.match(targetProblem('https://a:b@hooks.example', ['*'])!, /user name/)
})
