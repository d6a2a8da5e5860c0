/** Clients that send long, unique parameters do not make the ledger grow. */

import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { untilIdle, useLive } from './support/live.ts'

const live = useLive()

test('long unique parameters are stored as hash and features only', async () => {
  const requests = 60
  const text = 'x'.repeat(30_000)
  for (let i = 0; i < requests; i++) {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ text: `${text}${i}`, [`name ${text}`]: i, n: i })
    const answer = await fetch(`${live.url}/echo`, { method: 'POST', headers, body })
    assert.equal(answer.status, 200)
    await answer.text()
  }
  await untilIdle(live)
  await live.ledger.flush()
  const rows = await live.ledger.recent({ workload: 'echo', limit: 1_000 })
  assert.equal(rows.length, requests)
  for (const { parameters, key, features } of rows) {
    assert.match(parameters, /^\{"sha256":"[\w-]{43}","characters":\d+\}$/)
    assert.match(key, /^#[\w-]{43}$/)
    assert.match(features, /"text.length":3000\d.*"n":\d+/)
  }
  assert.equal(new Set(rows.map(({ parameters }) => parameters)).size, requests)
  const files = ['ledger.db', 'ledger.db-wal'].map((name) => join(live.dataDir, name))
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
  assert.ok(bytes < 1_000_000, `${bytes} bytes`)
})
