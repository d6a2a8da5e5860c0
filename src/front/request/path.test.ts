import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { normalizedPath } from './path.ts'

fc.configureGlobal({ seed: 1 })

test('dot segments are resolved, encoded or not', () => {
  const resolved: [sent: string, path: string][] = [
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/%2e%2E/b', '/b'],
    ['/a/.%2e/b', '/b'],
    ['/a/b/..', '/a/'],
    ['/a/b/.', '/a/b/'],
    ['/a/..', '/'],
    ['/.', '/'],
    ['/a//../b', '/a/b'],
  ]
  for (const [sent, path] of resolved) assert.equal(normalizedPath(sent), path, sent)
})

test('everything else stays as sent', () => {
  const kept = [
    ...[
      '/',
      '//',
      '/a//b',
      '//a',
      '/a/',
      '/...',
      '/a/.b',
      '/a/..b',
      '/a/b..',
      '/%41',
      '/%7e',
      '/%ff',
      '/%252e',
    ],
    ...['/a%2fb', '/a%2F%2Fb', '/a%5cb', '/a;v=1', '/a:b@c', '/%20', '/a%2f..b'],
  ]
  for (const path of kept) assert.equal(normalizedPath(path), path)
})

test('a path that programs may read differently is a 400 that names the reason', () => {
  const refused: [path: string, why: RegExp][] = [
    ['', /must begin with \//],
    ['a', /must begin with \//],
    ['/a\\..\\b', /must not contain a backslash/],
    ['/a#b', /must not contain #/],
    ['/%', /% without two hexadecimal digits/],
    ['/%2', /% without two/],
    ['/%zz', /% without two/],
    ['/a%00b', /must not contain %00/],
    ['/..', /must not leave the root/],
    ['/a/../../b', /must not leave the root/],
    ['/a/..%2fb', /must not hide \. or \.\./],
    ['/a/b%2f%2e%2e', /must not hide/],
    ['/a/..%5Cb', /must not hide/],
    ['/a/..;/b', /must not hide/],
    ['/a/%2e%2e;x=1/b', /must not hide/],
    ['/a/..%3bx/b', /must not hide/],
    ['/a/.;x', /must not hide/],
  ]
  for (const [path, message] of refused) {
    assert.throws(() => normalizedPath(path), { status: 400, code: 'bad-url', message }, path)
  }
})

test('a normalized path is stable, and no decoding of it has a dot segment', () => {
  const part = fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '%2e',
    '%2f',
    '%5c',
    '%25',
    ';',
    '%3b',
    'a',
    '%41',
    '%ff',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      let path: string
      try {
        path = normalizedPath(`/${parts.join('')}`)
      } catch {
        return
      }
      assert.equal(normalizedPath(path), path)
      const decoded = path.replaceAll(/%(2e|2f|5c|3b)/gi, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
      for (const segment of decoded.split(/[/\\]/)) assert.doesNotMatch(segment, /^\.\.?(;|$)/)
    }),
    { numRuns: 5000 },
  )
})
