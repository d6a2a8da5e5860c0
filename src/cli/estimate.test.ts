import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuoteDocument } from '../estimate/quote.ts'
import { quoteText } from './estimate.ts'

const quote: QuoteDocument = {
  ...{ workload: 'hello', work: 1000, low: 900, high: 1100, memoryMb: 64, source: 'similar', waitSeconds: 0 },
  ...{ reason: { code: 'x' }, why: 'mean', seconds: { expected: 0.01, low: 0.009, high: 0.02 } },
}

test('a quote says whether its estimate is still unproven', () => {
  assert.match(quoteText({ ...quote, unproven: true }), /^ {2}proven {2}not yet: such requests .*$/m)
  assert.doesNotMatch(quoteText(quote), /proven/)
})

test('a quote fits a terminal of 80 columns', () => {
  for (const line of quoteText({ ...quote, unproven: true }).split('\n')) assert.ok(line.length <= 80, line)
})
