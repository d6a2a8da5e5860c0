/** The contract of every ledger for snapshots, as tests. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Ledger } from '../ledger.ts'
import { maxSnapshot, type Snapshot } from '../snapshots.ts'
import { sampleSnapshot } from './samples.ts'

/** `open` opens a new, empty ledger that is closed and removed after the test. */
export function snapshotsContract(kind: string, open: (t: TestContext) => Promise<Ledger>): void {
  const kept = async (ledger: Ledger) =>
    (await ledger.snapshots('julia')).map(({ codeHash, name, at }) => `${codeHash} ${name} ${at}`)

  test(`${kind}: a snapshot is read back, and replaced by the next one of its name and code`, async (t) => {
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
    assert.deepEqual(await ledger.snapshots('unknown'), [])
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

  test(`${kind}: at most sixteen names of one version are kept`, async (t) => {
    const ledger = await open(t)
    for (let at = 1; at <= 20; at++) ledger.saveSnapshot(sampleSnapshot({ name: `name-${at}`, at }))
    await ledger.flush()
    const all = await kept(ledger)
    assert.equal(all.length, 16)
    assert.ok(all.includes('code-1 name-20 20'))
  })

  test(`${kind}: a snapshot from the future does not displace the others`, async (t) => {
    const ledger = await open(t)
    for (const codeHash of ['x', 'y', 'z']) ledger.saveSnapshot(sampleSnapshot({ codeHash, at: 8e15 }))
    ledger.saveSnapshot(sampleSnapshot())
    await ledger.flush()
    assert.equal((await kept(ledger))[0], 'code-1 learned 1700000000000')
  })

  test(`${kind}: a malformed or oversized snapshot is dropped, and one with invalid JSON is skipped`, async (t) => {
    const ledger = await open(t)
    ledger.saveSnapshot(sampleSnapshot({ json: `"${'x'.repeat(maxSnapshot - 1)}"` }))
    ledger.saveSnapshot({ ...sampleSnapshot(), json: { slope: 1 } } as unknown as Snapshot)
    ledger.saveSnapshot(sampleSnapshot({ at: Number.NaN }))
    for (const invalid of [undefined, null, 7]) ledger.saveSnapshot(invalid as unknown as Snapshot)
    ledger.saveSnapshot(sampleSnapshot({ name: 'torn', json: '{"slope":[1,' }))
    const longest = sampleSnapshot({ json: `"${'x'.repeat(maxSnapshot - 2)}"` })
    ledger.saveSnapshot(longest)
    await ledger.flush()
    assert.deepEqual(await ledger.snapshots('julia'), [longest])
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 6, skipped: 1 })
  })

  test(`${kind}: saving a snapshot in a closed ledger does nothing`, async (t) => {
    const ledger = await open(t)
    await ledger.close()
    ledger.saveSnapshot(sampleSnapshot())
  })
}
