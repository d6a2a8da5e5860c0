import assert from 'node:assert/strict'
import { test } from 'node:test'
import factorize from '../../../workloads/factorize.ts'
import { ask } from '../testing/ask.ts'
import { rankMemo } from './rank-memo.ts'

test('CP-6 a number to factorize is its own rank, although it is kept as text', () => {
  assert.equal(rankMemo().guess(ask(factorize, { n: 983_732 }))?.value, 983_732)
})
