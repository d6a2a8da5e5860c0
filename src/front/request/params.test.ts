import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { questioner } from '../../estimate/question.ts'
import { defineWorkload } from '../../workload/workload.ts'
import { BadParams, type ParamsText, readParams, shortBytes } from './params.ts'

fc.configureGlobal({ seed: 1 })

const ask = questioner({ code: {}, log() {} })
const any = defineWorkload({ name: 'any', description: '', deterministic: true, run() {} })
const strict = defineWorkload({
  name: 'strict',
  description: '',
  params: z.strictObject({ list: z.array(z.number()) }),
  run() {},
})

const bytes = (text: string) => new TextEncoder().encode(text)
const whole = ({ start, bodyFrom }: ParamsText, json: Uint8Array) =>
  Buffer.concat([start, bodyFrom === undefined ? Buffer.alloc(0) : json.subarray(bodyFrom)]).toString()

async function problemOf(workload: typeof any | typeof strict, json: string, query = ''): Promise<BadParams> {
  try {
    await readParams(workload, { query, json: bytes(json) }, ask)
  } catch (error) {
    assert.ok(error instanceof BadParams)
    return error
  }
  assert.fail('accepted')
}

test('workers receive the text of a JSON body as sent, after the members of the query', async () => {
  const cases: [query: string, json: string, text: string][] = [
    ['', ' { "a" : 1e400 }', ' { "a" : 1e400 }'],
    ['b=2', ' { "a" : 1 }', '{"b":"2", "a" : 1 }'],
    ['b=2&c=', '{ }', '{"b":"2","c":"" }'],
    ['__proto__=x', '{"a":{}}', '{"__proto__":"x","a":{}}'],
  ]
  for (const [query, json, text] of cases) {
    const read = await readParams(any, { query, json: bytes(json) }, ask)
    assert.equal(whole(read.text, bytes(json)), text)
  }
  const { text } = await readParams(any, { query: 'b=2' }, ask)
  assert.equal(whole(text, bytes('')), '{"b":"2"}')
})

test('long JSON is not copied: its text continues in the body', async () => {
  const json = bytes(JSON.stringify({ a: 'x'.repeat(shortBytes) }))
  const { text } = await readParams(any, { query: 'b=2', json }, ask)
  assert.deepEqual([text.start.length, text.bodyFrom], [9, 1])
})

test('the text means the same as the parameters that were checked', async () => {
  const names = fc.string({ minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(names, fc.string()),
      fc.dictionary(names, fc.jsonValue()),
      fc.nat(2),
      async (inQuery, inBody, space) => {
        fc.pre(!Object.keys(inQuery).some((name) => Object.hasOwn(inBody, name)))
        const json = bytes(JSON.stringify(inBody, undefined, space))
        const { raw, text } = await readParams(any, { query: `${new URLSearchParams(inQuery)}`, json }, ask)
        assert.deepEqual(JSON.parse(whole(text, json)), raw)
      },
    ),
  )
})

test('an error lists the first ten problems and counts the rest', async () => {
  const { message, fields } = await problemOf(
    strict,
    JSON.stringify({ list: Array(1000).fill('x'.repeat(500)) }),
  )
  const { errors, more } = fields as { errors: object[]; more: number }
  assert.deepEqual([errors.length, more], [10, 990])
  assert.match(message, /^list\.0: .* · list\.9: [^·]* · and 990 more$/)
})

test('an error is short, however long the parameters, their names and messages are', async () => {
  const long = 'x'.repeat(20_000)
  const cases = [
    problemOf(strict, JSON.stringify({ [long]: 1, list: [] })),
    problemOf(strict, JSON.stringify({ list: Array(20).fill(long) })),
    problemOf(any, JSON.stringify({ [long]: 1 }), `${long}=1`),
    problemOf(any, '{}', `${long}=${long}&${long}=1`),
    problemOf(any, `{"${long}`),
    problemOf(any, `{"a":${'['.repeat(300)}${long}`),
  ]
  for (const { message, fields } of await Promise.all(cases)) {
    assert.ok(message.length + JSON.stringify(fields).length < 10_000)
  }
})
