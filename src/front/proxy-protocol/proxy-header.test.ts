import assert from 'node:assert/strict'
import test from 'node:test'
import { readProxyHeader } from './proxy-header.ts'

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

function binary(versionAndCommand: number, family: number, rest: Buffer, announced = rest.length): Buffer {
  const fixed = Buffer.alloc(4)
  fixed.set([versionAndCommand, family])
  fixed.writeUInt16BE(announced, 2)
  return Buffer.concat([signature, fixed, rest])
}

const four = Buffer.from([203, 0, 113, 7, 10, 0, 0, 1, 0x1f, 0x90, 0x01, 0xbb])
const six = Buffer.alloc(36)
six.set([0x20, 0x01, 0x0d, 0xb8], 0)
six[15] = 9
six.writeUInt16BE(4000, 32)

test('version 2 gives the address of the client', () => {
  const header = binary(0x21, 0x11, four)
  assert.deepEqual(readProxyHeader(Buffer.concat([header, Buffer.from('GET /')])), {
    found: { peer: { remoteAddress: '203.0.113.7', remotePort: 8080 } },
    used: header.length,
  })
  const withMore = binary(0x21, 0x21, Buffer.concat([six, Buffer.from([4, 0, 1, 0])]))
  assert.deepEqual(readProxyHeader(withMore), {
    found: { peer: { remoteAddress: '2001:db8::9', remotePort: 4000 } },
    used: withMore.length,
  })
})

test('version 1 gives the address of the client', () => {
  const line = 'PROXY TCP4 203.0.113.7 10.0.0.1 8080 443\r\n'
  assert.deepEqual(readProxyHeader(Buffer.from(`${line}GET`)), {
    found: { peer: { remoteAddress: '203.0.113.7', remotePort: 8080 } },
    used: line.length,
  })
  assert.deepEqual(readProxyHeader(Buffer.from('PROXY TCP6 2001:db8::9 ::1 1 2\r\n')), {
    found: { peer: { remoteAddress: '2001:db8::9', remotePort: 1 } },
    used: 32,
  })
})

test('a proxy may speak for itself', () => {
  for (const header of [
    binary(0x20, 0x00, Buffer.alloc(0)),
    binary(0x20, 0x11, four),
    binary(0x21, 0x00, Buffer.alloc(0)),
    binary(0x21, 0x31, Buffer.alloc(216)),
    Buffer.from('PROXY UNKNOWN\r\n'),
    Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n'),
  ])
    assert.deepEqual(readProxyHeader(header), { found: { own: true }, used: header.length })
})

test('every prefix of a header asks for more', () => {
  for (const header of [
    binary(0x21, 0x11, four),
    binary(0x21, 0x21, six),
    Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 8080 443\r\n'),
  ])
    for (let bytes = 1; bytes < header.length; bytes++)
      assert.equal(readProxyHeader(header.subarray(0, bytes)), 'more', `${bytes}`)
})

test('malformed headers are found as early as possible', () => {
  const bad: [Buffer, RegExp][] = [
    [Buffer.from('GET / HTTP/1.1\r\n'), /no PROXY header/],
    [Buffer.from([0x16, 3, 1]), /no PROXY header/],
    [Buffer.from('\r\nGET'), /no PROXY header/],
    [binary(0x11, 0x11, four), /version 1/],
    [binary(0x22, 0x11, four), /unknown command 2/],
    [binary(0x21, 0x12, four), /not about a TCP connection/],
    [binary(0x21, 0x11, four.subarray(0, 8)), /too short/],
    [binary(0x21, 0x21, four), /too short/],
    [binary(0x21, 0x11, four, 5000), /longer than 4096/],
    [Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 8080\r\n'), /cannot be read/],
    [Buffer.from('PROXY TCP4 2001:db8::9 ::1 1 2\r\n'), /cannot be read/],
    [Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 99999 443\r\n'), /cannot be read/],
    [Buffer.from('PROXY TCP4 203.0.113.300 10.0.0.1 1 443\r\n'), /cannot be read/],
    [Buffer.from(`PROXY ${'x'.repeat(200)}`), /does not end/],
  ]
  for (const [bytes, why] of bad) {
    const seen = readProxyHeader(bytes)
    assert.ok(seen !== 'more' && 'malformed' in seen.found, `${why}`)
    assert.match(seen.found.malformed, why)
  }
})
