import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exception } from './exceptions.ts'
import { problemsOf } from './testing/project.ts'

const lines = (count: number) => '// line\n'.repeat(count)
/** A function of that many lines, between its head and its last line. */
const long = (head: string, count: number, last = '}') => `${head}\n${lines(count - 2)}${last}\n`

test('a file has at most 300 lines, in all folders of code', (t) => {
  const contents = {
    'bench/fits.ts': lines(300),
    'workloads/long.ts': lines(301),
    'tools/last.ts': `${lines(300)}//`,
  }
  assert.deepEqual(problemsOf(t, contents), [
    'tools/last.ts:1: file of 301 lines, at most 300 are allowed',
    'workloads/long.ts:1: file of 301 lines, at most 300 are allowed',
  ])
})

for (const [head, name, last] of [
  ['function draw() {', 'draw', '}'],
  ['export const draw: Draw = async () => {', 'draw', '}'],
  ["test('draws', () => {", 'draws', '})'],
  ['list.forEach((entry) => {', 'callback of list.forEach', '})'],
  ['export default () => {', 'unnamed function', '}'],
] as const) {
  test(`a function has at most 70 lines: ${head}`, (t) => {
    const contents = {
      'src/lib/fits.ts': long(head, 70, last),
      'src/lib/long.test.ts': `\n${long(head, 71, last)}`,
    }
    assert.deepEqual(problemsOf(t, contents, { rooms: { lib: [] } }), [
      `src/lib/long.test.ts:2: function of 71 lines, at most 70 are allowed: ${name}`,
    ])
  })
}

test('methods count for themselves and as part of the function around them', (t) => {
  const contents = {
    'test/a.ts': `class Pen {\n${long('draw() {', 71)}${long('#lift() {', 71)}}`,
    'test/b.ts': `function pen() {\nreturn {\n${long('draw() {', 71)}}\n}`,
  }
  assert.deepEqual(problemsOf(t, contents), [
    'test/a.ts:2: function of 71 lines, at most 70 are allowed: draw',
    'test/a.ts:73: function of 71 lines, at most 70 are allowed: #lift',
    'test/b.ts:1: function of 75 lines, at most 70 are allowed: pen',
    'test/b.ts:3: function of 71 lines, at most 70 are allowed: draw',
  ])
})

test('an exception allows what it names, and nothing else', (t) => {
  const contents = {
    'test/a.ts': `${long('function draw() {', 71)}${long('function lift() {', 71)}${lines(200)}`,
  }
  const exceptions: Exception[] = [
    { rule: 'file-size', file: 'test/a.ts', reason: 'a table' },
    { rule: 'function-size', file: 'test/a.ts', name: 'draw', reason: 'a table' },
  ]
  assert.deepEqual(problemsOf(t, contents, { exceptions }), [
    'test/a.ts:72: function of 71 lines, at most 70 are allowed: lift',
  ])
})

test('an exception that is not needed, or has no reason, is reported', (t) => {
  const contents = { 'test/a.ts': long('function draw() {', 70), 'test/b.ts': lines(301) }
  const exceptions: Exception[] = [
    { rule: 'function-size', file: 'test/a.ts', name: 'draw', reason: 'a table' },
    { rule: 'file-size', file: 'test/b.ts', reason: '' },
  ]
  assert.deepEqual(problemsOf(t, contents, { exceptions }), [
    'tools/tidy/exceptions.ts:1: exception function-size of test/a.ts (draw) is not needed any more',
    'tools/tidy/exceptions.ts:1: exception file-size of test/b.ts has no reason',
  ])
})
