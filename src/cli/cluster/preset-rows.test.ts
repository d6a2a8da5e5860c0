import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Ledger } from '../../ledger/ledger.ts'
import { openSqliteLedger } from '../../ledger/sqlite.ts'
import { sampleRow } from '../../ledger/testing/samples.ts'
import { presetRows, rowsText } from './preset-rows.ts'

/** A data folder whose ledger was filled and closed. */
async function folderWith(t: TestContext, fill: (ledger: Ledger) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-rows-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const ledger = await openSqliteLedger({ file: join(folder, 'ledger.db') })
  fill(ledger)
  await ledger.close()
  return folder
}

test('the rows of cloudprime are those of its metrics table, one for each number', async (t) => {
  const key = JSON.stringify({ n: '143' })
  const folder = await folderWith(t, (ledger) => {
    for (const job of [1, 2])
      ledger.record(sampleRow(job, { workload: 'factorize', codeHash: 'c', parameters: key, key }))
    ledger.recordMetrics({
      ...{ workload: 'factorize', codeHash: 'c', parameters: key, worker: 'w1', attempt: 'j1/1' },
      ...{ work: 99, tally: '{"instructions":200,"blocks":30}', running: false, at: 5 },
    })
  })
  const rows = await presetRows('cloudprime', folder, 10)
  assert.deepEqual(rows, {
    factorize: [
      {
        ...{ parameter: '143', basicBlocks: 30, fieldLoads: 0, instructions: 200, stackLoads: 0, rank: 99 },
        ...{ running: false, instanceId: 'w1', threadId: 'j1/1' },
      },
    ],
  })
  assert.match(rowsText(rows), /^factorize\nparameter +basicBlocks .*\n─.*\n143 +30 /)
})

test('the rows of ecowork are the slopes of each workload', async (t) => {
  const row = { key: '1:1', minX: 1, minWork: 10, maxX: 2, maxWork: 30, metric: 20 }
  const json = JSON.stringify([row, { ...row, key: '1:2' }])
  const folder = await folderWith(t, (ledger) =>
    ledger.saveSnapshot({ workload: 'foxes-rabbits', codeHash: 'c', name: 'slopes', at: 1, json }),
  )
  const rows = await presetRows('ecowork', folder, 1)
  assert.deepEqual(rows, { 'foxes-rabbits': [row], 'insect-war': [], compress: [] })
  assert.match(rowsText(rows), /insect-war\n\(no rows\)/)
})

test('presets without a table, and folders without a ledger, are rejected', async () => {
  await assert.rejects(presetRows('plimsoll', '.', 1), /--preset = plimsoll: must be one of cloudprime, cnv/)
  await assert.rejects(presetRows('cnv', '/nowhere', 1), /--data = \/nowhere: must contain ledger\.db/)
})
