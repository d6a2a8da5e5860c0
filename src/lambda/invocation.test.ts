import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionNames } from './function-names.ts'
import { isTooLong, maxPayloadBytes, payloadOf } from './invocation.ts'

const parts = { code: 'c', limitMs: 100, head: '{"job":"j"}' }

test('a payload carries the head and the body, and is refused when Lambda would refuse it', () => {
  const payload = payloadOf(parts, Buffer.from('body'))
  assert.deepEqual(JSON.parse(payload!.toString()), {
    ...{ version: 1, code: 'c', limitMs: 100, head: { job: 'j' } },
    body: Buffer.from('body').toString('base64'),
  })
  const around = payloadOf(parts, Buffer.alloc(0))!.length
  const largest = Math.floor((maxPayloadBytes - around) / 4) * 3
  assert.ok(payloadOf(parts, Buffer.alloc(largest)))
  assert.equal(payloadOf(parts, Buffer.alloc(largest + 3)), undefined)
})

test('an answer is too long if its JSON is', () => {
  const answer = (length: number) => ({ status: 200, headers: { a: 'é' }, body: 'b'.repeat(length) })
  const around = Buffer.byteLength(JSON.stringify(answer(0)))
  assert.equal(isTooLong(answer(maxPayloadBytes - around)), false)
  assert.equal(isTooLong(answer(maxPayloadBytes - around + 1)), true)
})

test('functions are named for all workloads or one by one, also by ARN', () => {
  assert.equal(functionNames('f').nameOf('any'), 'f')
  const { nameOf, names } = functionNames('julia=cnv-fractals, dna=cnv-dna:live')
  assert.deepEqual(
    [nameOf('julia'), nameOf('dna'), nameOf('other')],
    ['cnv-fractals', 'cnv-dna:live', undefined],
  )
  assert.deepEqual(names, ['cnv-fractals', 'cnv-dna:live'])
  assert.ok(functionNames('arn:aws:lambda:eu-central-1:123456789012:function:f'))
  for (const wrong of ['', 'a b', 'a=', '=f', 'a=b=c', 'a=f,'])
    assert.throws(() => functionNames(wrong), /^ConfigError: --lambda-functions = /)
})
