import assert from 'node:assert/strict'
import test from 'node:test'
import { compilePattern, partsOf } from './path-pattern.ts'

const match = (pattern: string, path: string) => compilePattern('path', pattern).match(partsOf(path))

test('matches paths segment by segment', () => {
  const cases: [pattern: string, path: string, found: Record<string, string> | undefined][] = [
    ['/', '/', {}],
    ['/', '/a', undefined],
    ['/a', '/a', {}],
    ['/a', '/a/', undefined],
    ['/a/', '/a/', {}],
    ['/a', '/A', undefined],
    ['/render/:scene', '/render/city', { scene: 'city' }],
    ['/render/:scene', '/render/', undefined],
    ['/render/:scene', '/render/a/b', undefined],
    ['/:a/x/:b', '/1/x/2', { a: '1', b: '2' }],
    ['/:a', '/caf%C3%A9%2Fbar', { a: 'café/bar' }],
    ['/:a', '/%zz', { a: '%zz' }],
    ['/straße', '/stra%C3%9Fe', {}],
    ['/**', '/', { '**': '' }],
    ['/**', '/a/b', { '**': 'a/b' }],
    ['/files/**', '/files', { '**': '' }],
    ['/files/**', '/files/', { '**': '' }],
    ['/files/**', '/files/a//b', { '**': 'a//b' }],
    ['/files/**', '/filesystem', undefined],
    ['/:user/files/**', '/me/files/a', { user: 'me', '**': 'a' }],
  ]
  for (const [pattern, path, found] of cases)
    assert.deepEqual(match(pattern, path), found, `${pattern} ${path}`)
  const proto = match('/:__proto__', '/x')!
  assert.deepEqual([Object.keys(proto), Object.getPrototypeOf(proto)], [['__proto__'], Object.prototype])
})

test('rejects invalid patterns and says what is allowed', () => {
  const refused: [pattern: unknown, message: RegExp][] = [
    ['', /^path = : must be a path that begins with \//],
    ['render', /must be a path that begins with \//],
    [5, /^path = 5: must be a path/],
    ['/-/mine', /must not begin with \/-\//],
    ['/:', /: must be a name/],
    ['/:a-b', /:a-b must be a name of letters/],
    ['/:a/:a', /must not name :a twice/],
    ['/a*', /a\* must be text, or :name/],
    ['/**/a', /\*\* for the rest stands at the end/],
    ['/a?b', /must be text/],
    ['/a/../b', /must not contain \. or \.\., which are resolved/],
  ]
  for (const [pattern, message] of refused) {
    assert.throws(() => compilePattern('path', pattern), { code: 'CONFIG', message })
  }
})
