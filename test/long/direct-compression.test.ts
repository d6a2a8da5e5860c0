/** Compressed answers of programs pass untouched on every path, and so does what clients accept. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ask, comparable, general, patient, startServer } from '../support/direct.ts'
import { KeptClient } from '../support/kept-client.ts'

const accept = 'accept-encoding: br;q=0.5, gzip\r\n'
const text = 'packed '.repeat(1_000)

test('compressed answers pass untouched', { timeout: 300_000 }, async (t) => {
  const up = await startServer(t, ...patient)
  const kept = new KeptClient(up)
  t.after(() => kept.close())
  await kept.askDirectly('/small')
  for (const lines of [accept, '']) {
    const isPacked = lines !== ''
    const fast = await kept.askDirectly('/packed', 'GET', lines)
    // The first request of a connection is read by Node's server.
    let direct = await ask(up, '/packed', lines)
    for (let i = 0; i < 1_000 && !direct.isDirect; i++) direct = await ask(up, '/packed', lines)
    const other = await ask(up, '/packed', lines + general)
    assert.deepEqual([direct.isDirect, other.isDirect], [true, false])
    for (const { head, body } of [fast, direct, other]) {
      const bytes = Buffer.from(body, 'latin1')
      assert.equal(String(isPacked ? gunzipSync(bytes) : bytes), text)
      assert.equal(/^content-encoding: gzip$/im.test(head), isPacked)
      assert.match(head, /^vary: Accept-Encoding$/im)
      assert.match(head, /^etag: "p"$/im)
      assert.match(head, new RegExp(`^content-length: ${bytes.length}$`, 'im'))
    }
    assert.deepEqual(comparable(direct), comparable(other))
    assert.equal(fast.body, other.body)
  }
  for (const more of ['', general])
    assert.match((await kept.ask('/seen', 'GET', accept + more)).body, /,accept-encoding,br;q=0\.5, gzip,/)
})
