import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Ledger } from '../../ledger/ledger.ts'
import { openSqliteLedger } from '../../ledger/sqlite.ts'
import { sampleRow } from '../../ledger/testing/samples.ts'
import type { CloudPrimeRow } from '../../systems/cloudprime/rows.ts'
import type { HcRequest } from '../../systems/hillclimbing/rows.ts'
import { askedRows, rowsText } from './preset-rows.ts'

const rowsOf = (preset: string, data: string, limit: number) =>
  askedRows(preset, { data, admin: undefined, tokenFile: undefined }, limit)

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
  const rows = await rowsOf('cloudprime', folder, 10)
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

test('CP-5 HC-3 a request that has not ended has a row that says so', async (t) => {
  const owner = { codeHash: 'c', worker: 'w1', attempt: 'j1/1', tally: '{}', at: 5 }
  const folder = await folderWith(t, (ledger) => {
    const ended = JSON.stringify({ n: '143' })
    ledger.record(sampleRow(1, { workload: 'factorize', codeHash: 'c', parameters: ended, key: ended }))
    ledger.recordMetrics({ ...owner, workload: 'factorize', parameters: ended, work: 9, running: false })
    const running = JSON.stringify({ n: '221' })
    ledger.recordMetrics({ ...owner, workload: 'factorize', parameters: running, work: 7, running: true })
    const search = JSON.stringify({ map: 1, strategy: 'BFS' })
    ledger.recordMetrics({ ...owner, workload: 'hillclimb', parameters: search, work: 0, running: true })
  })
  const { factorize } = await rowsOf('cloudprime', folder, 10)
  assert.deepEqual(
    (factorize as CloudPrimeRow[]).map(({ parameter, rank, running }) => [parameter, rank, running]),
    [
      ['221', 7, true],
      ['143', 9, false],
    ],
  )
  const { hillclimb } = await rowsOf('hillclimbing', folder, 10)
  assert.deepEqual(
    (hillclimb as HcRequest[]).map(({ strategy, completed }) => [strategy, completed]),
    [['BFS', false]],
  )
})

test('the rows of ecowork are the slopes of each workload', async (t) => {
  const row = { key: '1:1', minX: 1, minWork: 10, maxX: 2, maxWork: 30, metric: 20 }
  const json = JSON.stringify([row, { ...row, key: '1:2' }])
  const folder = await folderWith(t, (ledger) =>
    ledger.saveSnapshot({ workload: 'foxes-rabbits', codeHash: 'c', name: 'slopes', at: 1, json }),
  )
  const rows = await rowsOf('ecowork', folder, 1)
  assert.deepEqual(rows, { 'foxes-rabbits': [row], 'insect-war': [], compress: [] })
  assert.match(rowsText(rows), /insect-war\n\(no rows\)/)
})

test('presets without a table, and folders without a ledger, are rejected', async () => {
  await assert.rejects(rowsOf('plimsoll', '.', 1), /--preset = plimsoll: must be one of cloudprime, cnv/)
  await assert.rejects(rowsOf('cnv', '/nowhere', 1), /--data = \/nowhere: must contain ledger\.db/)
})
