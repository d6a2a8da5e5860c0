/** What every ledger promises of snapshots, as tests that run over each of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Ledger } from './ledger.ts'
import { maxSnapshot, type Snapshot } from './snapshots.ts'

export function sampleSnapshot(differences: Partial<Snapshot> = {}): Snapshot {
  const at = 1_700_000_000_000
  return {
    workload: 'julia',
    codeHash: 'code-1',
    name: 'learned',
    at,
    json: '{"slope":[1,2]}',
    ...differences,
  }
}

/** `open` gives a new, empty ledger and cleans up after the test. */
export function snapshotsContract(kind: string, open: (t: TestContext) => Promise<Ledger>): void {
  const kept = async (ledger: Ledger) =>
    (await ledger.snapshots('julia')).map(({ codeHash, name, at }) => `${codeHash} ${name} ${at}`)

  test(`${kind}: a snapshot is read as it was saved, and replaced by the next of its name and code`, async (t) => {
    const ledger = await open(t)
    const next = sampleSnapshot({ at: 1_700_000_000_001, json: '["ü✓"]' })
    ledger.saveSnapshot(sampleSnapshot())
    ledger.saveSnapshot(sampleSnapshot({ workload: 'bfs' }))
    await ledger.flush()
    assert.deepEqual(await ledger.snapshots('julia'), [sampleSnapshot()])
    ledger.saveSnapshot(next)
    await ledger.flush()
    assert.deepEqual(await ledger.snapshots('julia'), [next])
    assert.deepEqual(await ledger.snapshots('bfs'), [sampleSnapshot({ workload: 'bfs' })])
    assert.deepEqual(await ledger.snapshots('unheard of'), [])
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 0, skipped: 0 })
  })

  test(`${kind}: snapshots of the three newest versions of the code are kept, newest first`, async (t) => {
    const ledger = await open(t)
    for (let at = 1; at <= 5; at++) {
      for (const name of ['a', 'b']) ledger.saveSnapshot(sampleSnapshot({ codeHash: `${at}`, name, at }))
    }
    ledger.saveSnapshot(sampleSnapshot({ codeHash: '3', name: 'a', at: 6 }))
    await ledger.flush()
    assert.deepEqual((await kept(ledger)).sort(), ['3 a 6', '3 b 3', '4 a 4', '4 b 4', '5 a 5', '5 b 5'])
    assert.equal((await kept(ledger))[0], '3 a 6')
  })

  test(`${kind}: of one version no more than sixteen names are kept`, async (t) => {
    const ledger = await open(t)
    for (let at = 1; at <= 20; at++) ledger.saveSnapshot(sampleSnapshot({ name: `name-${at}`, at }))
    await ledger.flush()
    const all = await kept(ledger)
    assert.equal(all.length, 16)
    assert.ok(all.includes('code-1 name-20 20'))
  })

  test(`${kind}: one from the future does not push out the others`, async (t) => {
    const ledger = await open(t)
    for (const codeHash of ['x', 'y', 'z']) ledger.saveSnapshot(sampleSnapshot({ codeHash, at: 8e15 }))
    ledger.saveSnapshot(sampleSnapshot())
    await ledger.flush()
    assert.equal((await kept(ledger))[0], 'code-1 learned 1700000000000')
  })

  test(`${kind}: a snapshot that is too long or malformed is dropped, and one that is no JSON passed over`, async (t) => {
    const ledger = await open(t)
    ledger.saveSnapshot(sampleSnapshot({ json: `"${'x'.repeat(maxSnapshot - 1)}"` }))
    ledger.saveSnapshot({ ...sampleSnapshot(), json: { slope: 1 } } as unknown as Snapshot)
    ledger.saveSnapshot(sampleSnapshot({ at: Number.NaN }))
    for (const wrong of [undefined, null, 7]) ledger.saveSnapshot(wrong as unknown as Snapshot)
    ledger.saveSnapshot(sampleSnapshot({ name: 'torn', json: '{"slope":[1,' }))
    const longest = sampleSnapshot({ json: `"${'x'.repeat(maxSnapshot - 2)}"` })
    ledger.saveSnapshot(longest)
    await ledger.flush()
    assert.deepEqual(await ledger.snapshots('julia'), [longest])
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 6, skipped: 1 })
  })

  test(`${kind}: after it was closed saving a snapshot does nothing`, async (t) => {
    const ledger = await open(t)
    await ledger.close()
    ledger.saveSnapshot(sampleSnapshot())
  })
}
