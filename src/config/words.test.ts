import assert from 'node:assert/strict'
import test from 'node:test'
import { splitWords } from './words.ts'

const split = (line: string) => splitWords('workers.command', line)

test('splits a command as a shell would', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['  \t ', []],
    ['python3 app.py --port {port}', ['python3', 'app.py', '--port', '{port}']],
    [`a 'b c' "d e"  f`, ['a', 'b c', 'd e', 'f']],
    [`a'b'"c"d ''`, ['abcd', '']],
    [`a\\ b \\'c "d\\"e\\f\\\\" 'g\\h'`, ['a b', "'c", 'd"e\\f\\', 'g\\h']],
    [`'$HOME' "a|b" 'c;d' \\&`, ['$HOME', 'a|b', 'c;d', '&']],
    ['x=* ~ #y', ['x=*', '~', '#y']],
  ]
  for (const [line, words] of cases) assert.deepEqual(split(line), words, line)
})

test('rejects shell syntax and suggests an alternative', () => {
  for (const line of ['a && b', 'a | b', 'a; b', 'a > b', 'echo $HOME', 'a `b`', '(a)', 'a\nb']) {
    assert.throws(() => split(line), {
      code: 'CONFIG',
      message: /^workers\.command = .*is shell syntax.*'sh', '-c'/s,
    })
  }
  assert.throws(() => split(`a 'b`), /a ' is not closed/)
  assert.throws(() => split('a "b'), /a " is not closed/)
  assert.throws(() => split('a \\'), /must not end with a backslash/)
})
