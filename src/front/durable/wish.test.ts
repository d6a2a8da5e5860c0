import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestProblem } from '../problem.ts'
import { wishOf } from './wish.ts'

const wish = (headers: Record<string, string>) => wishOf({ headers })

test('a request without preferences and without a key is not kept', () => {
  assert.equal(wish({}), undefined)
  assert.equal(wish({ prefer: 'return=minimal, handling=lenient' }), undefined)
  assert.equal(wish({ prefer: 'wait=soon, waits=3' }), undefined)
})

test('preferences say how long the client waits for the answer', () => {
  assert.deepEqual(wish({ prefer: 'respond-async' }), { waitMs: 0, applied: 'respond-async' })
  assert.deepEqual(wish({ prefer: 'wait=10' }), { waitMs: 10_000, applied: 'wait=10' })
  assert.deepEqual(wish({ prefer: 'Respond-Async , wait = "5"; x=y' }), {
    waitMs: 5_000,
    applied: 'respond-async, wait=5',
  })
  assert.deepEqual(wish({ prefer: 'wait=1, wait=2' })?.waitMs, 1_000)
  assert.equal(wish({ prefer: 'wait=999999999' })?.waitMs, 24 * 3600 * 1000)
})

test('with an idempotency key alone the client waits for the answer', () => {
  assert.deepEqual(wish({ 'idempotency-key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' }), {
    waitMs: null,
    idempotencyKey: '8e03978e-40d5-43dd-bc93-6894a57f9324',
  })
  assert.equal(wish({ 'idempotency-key': 'plain' })?.idempotencyKey, 'plain')
  assert.equal(wish({ 'idempotency-key': '"a \\"b\\""' })?.idempotencyKey, 'a "b"')
})

test('an idempotency key that is empty, long or unreadable is refused', () => {
  for (const key of ['', '""', 'é', '"open', 'x'.repeat(256), 'a, "b"']) {
    assert.throws(
      () => wish({ 'idempotency-key': key }),
      (error) =>
        error instanceof RequestProblem && error.status === 400 && /Idempotency-Key = /.test(error.message),
      key,
    )
  }
})
