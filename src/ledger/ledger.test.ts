/** Runs the contract tests over both ledgers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryLedger } from './testing/memory-ledger.ts'
import { retentionContract } from './testing/retention-contract.ts'
import { rowsContract } from './testing/rows-contract.ts'
import { sampleRow } from './testing/samples.ts'
import { eagerPruning, scratch } from './testing/scratch.ts'
import { snapshotsContract } from './testing/snapshots-contract.ts'
import { warmContract } from './testing/warm-contract.ts'

rowsContract('memory', async () => memoryLedger())
rowsContract('sqlite', (t) => scratch(t).open())
warmContract('memory', async () => memoryLedger())
warmContract('sqlite', (t) => scratch(t).open())
snapshotsContract('memory', async () => memoryLedger())
snapshotsContract('sqlite', (t) => scratch(t).open())
retentionContract('memory', async (_, retention) => memoryLedger({ retention }))
retentionContract('sqlite', (t, retention) => scratch(t).open(eagerPruning, retention))

test('memory: a full ledger drops the row recorded first', async () => {
  const ledger = memoryLedger({ maxRows: 2 })
  for (const number of [1, 2, 1, 3]) ledger.record(sampleRow(number))
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 9 }), [sampleRow(3), sampleRow(1)])
  assert.deepEqual(await ledger.counts(), { rows: 2, dropped: 1, skipped: 0 })
})
