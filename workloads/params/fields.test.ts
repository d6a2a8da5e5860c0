/** Parameters of the ready workloads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { choice, parameters, real, text, whole } from './fields.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

const schema = parameters({
  count: whole({ min: -5, max: 1_000_000 }),
  share: real({ min: -1, max: 1 }).default(0.5),
  title: text({ maxLength: 5 }).optional(),
  colour: choice(['red', 'green']).default('red'),
})

test('a number is the same from a string and from JSON, and parsing is idempotent', () => {
  const counts = fc.integer({ min: -5, max: 1_000_000 })
  const shares = fc.double({ min: -1, max: 1, noNaN: true }).filter((share) => !Object.is(share, -0))
  fc.assert(
    fc.property(counts, shares, (count, share) => {
      const read = schema.parse({ count: String(count), share: String(share) })
      assert.deepEqual(read, { count, share, colour: 'red' })
      assert.deepEqual(schema.parse(JSON.parse(JSON.stringify(read))), read)
    }),
  )
})

test('loosely numeric strings are rejected', () => {
  for (const lax of [
    '',
    ' ',
    ' 1',
    '1 ',
    '\n1',
    '0x1',
    '0b1',
    '1_0',
    '+1',
    '--1',
    '1e',
    '.',
    '-',
    '١',
    '1,5',
  ]) {
    assert.equal(schema.safeParse({ count: lax }).success, false, `count ${lax}`)
    assert.equal(schema.safeParse({ count: 1, share: lax }).success, false, `share ${lax}`)
  }
  assert.equal(schema.safeParse({ count: '1.0' }).success, false)
  assert.equal(schema.safeParse({ count: '1e3' }).success, false)
})

test('long input is truncated in the message', () => {
  const { error } = schema.safeParse({ count: 'x'.repeat(10_000) })
  assert.ok(error && error.issues[0]!.message.length < 150)
})

test('the schema can be exported as JSON Schema, with ranges and choices', () => {
  const { properties } = z.toJSONSchema(schema, { io: 'input' })
  assert.deepEqual(properties, {
    count: { type: 'integer', minimum: -5, maximum: 1_000_000 },
    share: { type: 'number', minimum: -1, maximum: 1 },
    title: { type: 'string', minLength: 1, maxLength: 5 },
    colour: { type: 'string', enum: ['red', 'green'], default: 'red' },
  })
})
