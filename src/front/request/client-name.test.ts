import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { type ClientFacts, clientNamer } from './client-name.ts'

fc.configureGlobal({ seed: 1 })

const from = (remoteAddress: string | undefined): ClientFacts => ({
  socket: { remoteAddress },
  headersDistinct: {},
})
const saying = (headersDistinct: Record<string, string[]>): ClientFacts => ({
  socket: { remoteAddress: '10.0.0.1' },
  headersDistinct,
})
const hash = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 12)

test('an address is one client in any notation', () => {
  const named: [string | undefined, string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:2::', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    [undefined, 'anonymous'],
    ['', 'anonymous'],
    ['somewhere', 'anonymous'],
  ]
  const name = clientNamer('address')
  for (const [address, client] of named) assert.equal(name(from(address)), client, address)
})

test('exactly the addresses of one IPv6 /64 network are one client', () => {
  const group = fc.integer({ min: 0, max: 0xffff })
  const four = fc.tuple(group, group, group, group)
  const name = clientNamer('address')
  const write = (groups: number[]) => groups.map((part) => part.toString(16)).join(':')
  fc.assert(
    fc.property(four, four, four, four, (one, other, left, right) => {
      const [a, b] = [name(from(write([...one, ...left]))), name(from(write([...one, ...right])))]
      const c = name(from(write([...other, ...left])))
      const isMapped = (groups: number[]) => /^(0:){5}ffff:/.test(`${write(groups)}:`)
      fc.pre(![one, other].some((net) => [left, right].some((host) => isMapped([...net, ...host]))))
      assert.equal(a, b)
      assert.equal(a === c, write(one) === write(other))
    }),
  )
})

test('a key identifies a client by its hash, and is never shown', () => {
  const name = clientNamer('key')
  const client = `key:${hash('s3cret')}`
  assert.match(client, /^key:[0-9a-f]{12}$/)
  for (const authorization of ['Bearer s3cret', 'bearer s3cret', 'BEARER   s3cret  ']) {
    assert.equal(name(saying({ authorization: [authorization] })), client, authorization)
  }
  assert.equal(name(saying({ 'x-api-key': ['s3cret'] })), client)
  assert.equal(name(saying({ authorization: ['Bearer s3cret'], 'x-api-key': ['other'] })), client)
  assert.equal(name(saying({ authorization: ['Basic dTpw'], 'x-api-key': ['s3cret'] })), client)
})

test('a request without a usable key is anonymous', () => {
  const name = clientNamer('key')
  const nobodies: Record<string, string[]>[] = [
    {},
    { authorization: [''] },
    { authorization: ['Bearer'] },
    { authorization: ['Bearer   '] },
    { authorization: ['Basic dTpw'] },
    { authorization: ['Bearer a', 'Bearer b'] },
    { 'x-api-key': [''] },
    { 'x-api-key': ['  '] },
    { 'x-api-key': ['a', 'a'] },
    { 'x-api-key': [] },
  ]
  for (const headers of nobodies) assert.equal(name(saying(headers)), 'anonymous', JSON.stringify(headers))
})

test('a header names the client; two values identify nobody', () => {
  const name = clientNamer('header:X-Tenant')
  assert.equal(name(saying({ 'x-tenant': ['  Acme, Inc. '] })), 'Acme, Inc.')
  assert.equal(name(saying({ 'x-tenant': ['::ffff:192.0.2.7'] })), '192.0.2.7')
  for (const values of [[], [''], ['acme', 'acme'], ['acme', 'other']]) {
    assert.equal(name(saying({ 'x-tenant': values })), 'anonymous', values.join())
  }
  assert.equal(name(saying({})), 'anonymous')
  assert.equal(clientNamer('header:__proto__')(saying({})), 'anonymous')
})

test('a value that is long, not one line of ASCII, or looks like a hash is replaced by its hash', () => {
  const name = clientNamer('header:x-tenant')
  assert.equal(name(saying({ 'x-tenant': ['x'.repeat(64)] })), 'x'.repeat(64))
  for (const value of ['x'.repeat(65), 'x'.repeat(16_000), 'Ã¼', 'a\tb', 'a\x1b[31mb', 'hash:0123456789ab']) {
    assert.equal(name(saying({ 'x-tenant': [value] })), `hash:${hash(value)}`)
  }
})

test('a header whose name suggests a secret is replaced by its hash', () => {
  for (const header of ['authorization', 'Cookie', 'X-API-Key', 'x-auth-token', 'x-session-id']) {
    const name = clientNamer(`header:${header}`)
    assert.equal(name(saying({ [header.toLowerCase()]: ['s3cret'] })), `key:${hash('s3cret')}`)
    assert.equal(name(saying({})), 'anonymous')
  }
})

test('x-forwarded-for of a trusted proxy names the last address that is not a trusted proxy', () => {
  const name = clientNamer('header:x-forwarded-for', ['10.0.0.0/8'])
  const named: [string[], string][] = [
    [['192.0.2.7'], '192.0.2.7'],
    [[' 192.0.2.7 , 10.0.0.9, 10.0.0.1'], '192.0.2.7'],
    [['192.0.2.7', '10.0.0.9'], '192.0.2.7'],
    // The client itself sent the first address.
    [['198.51.100.1, 192.0.2.7, 10.0.0.9'], '192.0.2.7'],
    [['192.0.2.7:1234, 10.0.0.9'], '192.0.2.7'],
    [['[2001:db8:1:2::7]:1234'], '2001:db8:1:2::/64'],
    [['[2001:db8:1:2::7]'], '2001:db8:1:2::/64'],
    [['2001:db8:1:2::7'], '2001:db8:1:2::/64'],
    [['10.0.0.8, 10.0.0.9'], '10.0.0.8'],
    [['unknown, 10.0.0.9'], 'anonymous'],
    [[', 10.0.0.9'], '10.0.0.9'],
    [['999.0.0.1'], 'anonymous'],
    [[`${'1'.repeat(15_000)}`], 'anonymous'],
    [[','.repeat(15_000)], '10.0.0.1'],
    [[''], '10.0.0.1'],
    [[], '10.0.0.1'],
  ]
  for (const [values, client] of named) {
    const request = saying({ 'x-forwarded-for': values })
    assert.equal(name(request), client, values.join(' | ').slice(0, 60))
    assert.equal(clientNamer('address')(request), '10.0.0.1')
    const stranger = { ...request, socket: { remoteAddress: '192.0.2.99' } }
    assert.equal(name(stranger), '192.0.2.99')
  }
})

test('x-forwarded-for without trusted proxies is rejected', () => {
  assert.throws(() => clientNamer('header:X-Forwarded-For', [], '--client-by'), {
    code: 'CONFIG',
    message: /^--client-by = header:X-Forwarded-For: requires trustedProxies \(--trusted-proxies\)/,
  })
})

test('the name of any client is short, one line, and deterministic', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ maxLength: 80 }),
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom('Bearer \u0000', '[', '[]', '[]:1', '::ffff:1.2.3', '%', '1.2.3.4%\n', ':1', 'hash:'),
  )
  const headers = fc.dictionary(
    fc.constantFrom('authorization', 'x-api-key', 'x-tenant', 'x-forwarded-for'),
    fc.array(value, { maxLength: 3 }),
  )
  const proxies = ['0.0.0.0/0', '::/0']
  const by = fc.constantFrom('address', 'key', 'header:x-tenant', 'header:x-forwarded-for', 'header:cookie')
  fc.assert(
    fc.property(by, headers, fc.option(value, { nil: undefined }), (rule, sent, remoteAddress) => {
      const request = { socket: { remoteAddress }, headersDistinct: sent }
      const client = clientNamer(rule, proxies)(request)
      assert.match(client, /^[\x20-\x7e]{1,64}$/)
      assert.equal(clientNamer(rule, proxies)(request), client)
    }),
    { numRuns: 2000 },
  )
})

test('an unknown rule is rejected with the list of rules', () => {
  for (const by of ['', 'ip', 'Key', 'header', 'header:', 'header:a b', 'header:ü', 'header:a\n']) {
    assert.throws(() => clientNamer(by, [], '--client-by'), {
      code: 'CONFIG',
      message: `--client-by = ${by}: must be address, key or header:NAME, for example header:x-tenant`,
    })
  }
})
