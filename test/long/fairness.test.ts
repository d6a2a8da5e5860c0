/** With fair shares, the flood of one client barely affects the occasional requests of another, on a real cluster. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { startLive, stopLive, until } from '../support/live.ts'

test('an occasional request overtakes the flood of another client, and both are answered', async () => {
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
    await until(() => flooded >= 2, 'the flood has used its share')
    // As long as the jobs of the flood: only its share lets it go first.
    const before = flooded
    const modest = await ask('modest', 300)
    assert.equal(modest.status, 204)
    // Up to four jobs without a proven estimate share a core, so that many of the flood may have begun before it.
    assert.ok(flooded - before <= 4, `${flooded - before} of the flood were answered before it`)
    for (const answer of flood) assert.equal((await answer).status, 204)
  } finally {
    await stopLive(live)
  }
})
