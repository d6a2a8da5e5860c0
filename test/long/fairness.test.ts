/** One client floods a real cluster, another asks for a little now and then: with shares of work it hardly notices. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { startLive, stopLive, until } from '../support/live.ts'

test('a client that asks for little passes the flood of another, and both are answered', async () => {
  const live = await startLive({
    files: [join(import.meta.dirname, '..', 'fixtures', 'spins.ts')],
    queue: 20,
    clientBy: 'header:x-client',
    fair: true,
  })
  try {
    const ask = (client: string, ms: number) =>
      fetch(`${live.url}/spin?ms=${ms}`, { headers: { 'x-client': client } })
    const flood = Array.from({ length: 10 }, () => ask('flood', 200))
    let flooded = 0
    for (const answer of flood) void answer.then(() => flooded++)
    await until(() => flooded >= 2, 'the flood has had its share')
    // As long as those of the flood: only its share lets it go first.
    const before = flooded
    const modest = await ask('modest', 300)
    assert.equal(modest.status, 204)
    assert.ok(flooded - before <= 2, `${flooded - before} of the flood were answered before it`)
    for (const answer of flood) assert.equal((await answer).status, 204)
  } finally {
    await stopLive(live)
  }
})
