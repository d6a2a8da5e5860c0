/** Runs the contract over every ledger. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerContract, sampleRow } from './contract.ts'
import { growthContract } from './growth-contract.ts'
import { memoryLedger } from './memory.ts'
import { snapshotsContract } from './snapshots-contract.ts'
import { scratch, tidy } from './test-scratch.ts'
import { warmContract } from './warm-contract.ts'

ledgerContract('memory', async () => memoryLedger())
ledgerContract('sqlite', (t) => scratch(t).open())
warmContract('memory', async () => memoryLedger())
warmContract('sqlite', (t) => scratch(t).open())
snapshotsContract('memory', async () => memoryLedger())
snapshotsContract('sqlite', (t) => scratch(t).open())
growthContract('memory', async (_, growth) => memoryLedger({ growth }))
growthContract('sqlite', (t, growth) => scratch(t).open(tidy, growth))

test('memory: the row recorded first makes room when there are too many', async () => {
  const ledger = memoryLedger({ maxRows: 2 })
  for (const number of [1, 2, 1, 3]) ledger.record(sampleRow(number))
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 9 }), [sampleRow(3), sampleRow(1)])
  assert.deepEqual(await ledger.counts(), { rows: 2, dropped: 1, skipped: 0 })
})
