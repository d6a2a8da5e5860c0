/** A workload that runs several times as fast as workers announce: quotes, deadlines and stories go by the learned rate. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { QuoteDocument } from '../src/estimate/quote.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import { nominalRate } from '../src/worker/rates.ts'
import { useLive } from './support/live.ts'

const live = useLive({
  files: [join(import.meta.dirname, '..', 'workloads', 'factorize.ts')],
  meter: defaultMeter,
  ...{ min: 2, max: 2 },
})

/** The product of two primes of nine digits. */
const large = '10000004400000259'

const quote = async () =>
  (await (await fetch(`${live.url}/-/estimate/factorize?n=${large}`)).json()) as QuoteDocument

test('a deadline that the quote meets is not refused, and tiny requests leave both as they are', async () => {
  for (let i = 0; i < 3; i++) assert.equal((await fetch(`${live.url}/factorize?n=${large}`)).status, 200)
  const { work, seconds } = await quote()
  const nominalMs = work / nominalRate(defaultMeter)
  // The test says nothing on machines where both are the same.
  assert.ok(seconds.expected * 1000 < nominalMs / 2, `${seconds.expected} s, nominally ${nominalMs} ms`)
  await Promise.all(Array.from({ length: 8 }, () => fetch(`${live.url}/factorize?n=12`)))
  const after = (await quote()).seconds
  for (const side of ['expected', 'low', 'high'] as const) {
    const factor = after[side] / seconds[side]
    assert.ok(factor > 0.8 && factor < 1.25, `${side}: ${seconds[side]}, then ${after[side]}`)
  }
  const answer = await fetch(`${live.url}/factorize?n=${large}`, {
    headers: { 'plimsoll-deadline': String(Math.floor(nominalMs * 0.9)) },
  })
  // A busy machine may still miss it.
  if (answer.status !== 200)
    assert.equal(((await answer.json()) as { type: string }).type, 'urn:plimsoll:deadline')
})
