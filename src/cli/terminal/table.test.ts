import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean } from '../../lib/did-you-mean.ts'
import { table } from './table.ts'
import { fitted, terminalWidth } from './width.ts'

const head = ['worker', 'cores busy', 'what happened and why']
const rows = [
  ['w1', '1 of 2', 'one worker launched: the backlog of 12 s is more than the limit'],
  ['w2', '0 of 2', 'joined'],
]
const widest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length))

test('without a terminal, tables are as wide as their cells', () => {
  assert.equal(terminalWidth({ isTTY: false, columns: 40 } as NodeJS.WriteStream), Infinity)
  assert.equal(terminalWidth({ isTTY: true, columns: 40 } as NodeJS.WriteStream), 40)
  assert.equal(
    table(head, rows, [0, 2], Infinity),
    `worker  cores busy  what happened and why
${'─'.repeat(6)}  ${'─'.repeat(10)}  ${'─'.repeat(63)}
w1          1 of 2  one worker launched: the backlog of 12 s is more than the limit
w2          0 of 2  joined`,
  )
})

test('a table that is too wide wraps titles and texts', () => {
  assert.equal(
    table(head, rows, [0, 2], 44),
    `         cores
worker    busy  what happened and why
──────  ──────  ────────────────────────────
w1      1 of 2  one worker launched: the
                backlog of 12 s is more than
                the limit
w2      0 of 2  joined`,
  )
})

test('columns that do not fit follow below, beside the first column', () => {
  const names = Array.from({ length: 9 }, (_, i) => `figure ${i}`)
  const figures = [['srpt', ...names.map((_, i) => `${i},000,000`)]]
  const text = table(['policy', ...names], figures, [0], 40)
  assert.ok(widest(text) <= 40, text)
  for (const [i] of names.entries()) assert.ok(text.includes(`${i},000,000`), text)
  assert.equal(text.match(/^policy/gm)?.length, 3)
  assert.equal(text.match(/^srpt/gm)?.length, 3)
})

test('lines are wrapped with an indent', () => {
  assert.equal(fitted('money 0.1 spent, 0.2 saved in all', 6, 26), 'money 0.1 spent, 0.2\n      saved in all')
  assert.equal(fitted('short', 6, 26), 'short')
})

test('mistyped names get a suggestion, others none', () => {
  const names = ['up', 'status', 'estimate', 'compare']
  assert.equal(didYouMean('stauts', names), '; did you mean status?')
  assert.equal(didYouMean('Estimate', names), '; did you mean estimate?')
  assert.equal(didYouMean('comp', names), '; did you mean compare?')
  assert.equal(didYouMean('frobnicate', names), '')
})
