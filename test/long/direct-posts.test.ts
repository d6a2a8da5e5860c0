/** POST requests with parameters in their body: answers on the direct path have the bytes of the general path. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { createClient } from '../../src/library/client/client.ts'
import { ask, comparable, general, patient } from '../support/direct.ts'
import { KeptClient } from '../support/kept-client.ts'
import { startUp } from '../support/up.ts'

const json = 'content-type: application/json\r\n'
const form = 'content-type: application/x-www-form-urlencoded\r\n'
const quick: [path: string, lines: string, body: string][] = [
  ['/strict', json, '{"n":21}'],
  ['/strict', `${json}cookie: a=b\r\n`, ' { "n" : 0, "tag":"x" } '],
  ['/strict?n=4', json, '{"tag":"\xc3\xa4"}'],
  ['/strict?n=4', '', ''],
  ['/strict', form, 'n=5&tag=%20'],
]
const refused: [path: string, lines: string, body: string][] = [
  ['/strict', json, '{"n":"nothing"}'],
  ['/strict', json, '{"n":1'],
  ['/strict?n=1', json, '{"n":1}'],
  ['/strict', form, 'n=\x01'],
  ['/strict', '', 'data'],
]

test('answers to POST requests are the same on both paths', { timeout: 300_000 }, async (t) => {
  const up = await startUp(t, ...patient)
  const client = new KeptClient(up)
  t.after(() => client.close())
  await client.askDirectly('/strict?n=1')
  for (const [path, lines, body] of quick) {
    const direct = await client.askDirectly(path, 'POST', lines, body)
    const other = await client.ask(path, 'POST', lines + general, body)
    assert.equal(other.isDirect, false)
    assert.deepEqual(comparable(direct), comparable(other), `${path} ${body}`)
  }
  for (const [path, lines, body] of refused) {
    const tried = await client.ask(path, 'POST', lines, body)
    const other = await client.ask(path, 'POST', lines + general, body)
    assert.deepEqual(comparable(tried), comparable(other), `${path} ${body}`)
  }
  // The first request of a connection is read by Node's server.
  for (const [path, lines, body] of [...quick, ...refused]) {
    const all = `${lines}content-length: ${body.length}\r\n`
    const first = await ask(up, path, all, 'POST', body)
    const other = await ask(up, path, all + general, 'POST', body)
    assert.deepEqual(comparable(first), comparable(other), `${path} ${body}`)
  }
  await t.test('requests of the client of this package are sent directly', async () => {
    const plimsoll = createClient(up.url)
    t.after(() => plimsoll.close())
    const by = performance.now() + 120_000
    for (;;) {
      const { result, job } = await plimsoll.request('strict', { n: 21 })
      assert.equal(result, 42)
      if (job?.endsWith('-d')) return
      assert.ok(performance.now() < by, 'no request is sent directly')
    }
  })
})
