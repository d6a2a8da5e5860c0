import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateLimitFields, withoutRateLimit } from './rate-limit-fields.ts'

test('the fields have whole seconds of a core; what is left is rounded down, times are rounded up', () => {
  assert.deepEqual(rateLimitFields({ quota: 90, windowS: 60, left: 50.9, fullS: 26.1 }), {
    'ratelimit-policy': '"work";q=90;w=60;qu="core-seconds"',
    ratelimit: '"work";r=50;t=27',
  })
  assert.deepEqual(rateLimitFields({ quota: 0.2, windowS: 60, left: -3, fullS: 90 }), {
    'ratelimit-policy': '"work";q=1;w=60;qu="core-seconds"',
    ratelimit: '"work";r=0;t=90',
  })
})

test('an account without them keeps everything else', () => {
  const fields = rateLimitFields({ quota: 1, windowS: 1, left: 1, fullS: 1 })
  assert.deepEqual(withoutRateLimit({ 'plimsoll-job': 'j', ...fields }), { 'plimsoll-job': 'j' })
})
