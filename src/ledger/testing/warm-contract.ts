/** The contract of every ledger for warm rows, as tests. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../../lib/errors.ts'
import type { Ledger } from '../ledger.ts'
import { sampleRow } from './samples.ts'

/** Opens a new, empty ledger that is closed and removed after the test. */
type Open = (t: TestContext) => Promise<Ledger>

export function warmContract(kind: string, open: Open): void {
  resultsContract(kind, open)
  versionsContract(kind, open)
}

async function keys(ledger: Ledger, limit?: number) {
  const rows = await ledger.warm({ workload: 'julia', ...(limit === undefined ? {} : { limit }) })
  return rows.map((row) => row.key)
}

function resultsContract(kind: string, open: Open): void {
  test(`${kind}: a warm row has the fields that estimators need, and no others`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(7, { measure: 'cpu', quantities: '{"a":1}' }))
    await ledger.flush()
    assert.deepEqual(await ledger.warm({ workload: 'julia' }), [
      {
        codeHash: 'code-1',
        key: 'key-7',
        parameters: '{"width":7}',
        features: '{"pixels":7}',
        work: 1_007.5,
        cpuMs: 12.25,
        wallMs: 20.5,
        peakMemoryMb: 64,
        worker: 'worker-1',
        measure: 'cpu',
        quantities: '{"a":1}',
      },
    ])
    assert.deepEqual(await ledger.warm({ workload: 'unknown' }), [])
  })

  test(`${kind}: the newest results up to the limit come, oldest first`, async (t) => {
    const ledger = await open(t)
    for (const number of [3, 1, 4, 2]) ledger.record(sampleRow(number))
    ledger.record(sampleRow(5, { endedAt: sampleRow(4).endedAt }))
    for (const outcome of ['error', 'refused', 'unknown'] as const) {
      ledger.record(sampleRow(9, { job: outcome, outcome }))
    }
    await ledger.flush()
    assert.deepEqual(await keys(ledger), ['key-1', 'key-2', 'key-3', 'key-4', 'key-5'])
    assert.deepEqual(await keys(ledger, 2), ['key-4', 'key-5'])
  })

  test(`${kind}: a limit of warm rows out of range is rejected by name`, async (t) => {
    const ledger = await open(t)
    for (const limit of [0, -1, 1.5, Number.NaN, 100_001]) {
      await assert.rejects(
        ledger.warm({ workload: 'julia', limit }),
        (error) => error instanceof LedgerError && error.message.startsWith(`limit = ${limit}: must be`),
      )
    }
  })
}

function versionsContract(kind: string, open: Open): void {
  test(`${kind}: the newest version of the code has precedence, however many rows the others have`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 20; number++) {
      ledger.record(sampleRow(number, { codeHash: number < 15 ? 'code-1' : 'code-2' }))
    }
    await ledger.flush()
    assert.deepEqual(await keys(ledger, 3), ['key-17', 'key-18', 'key-19'])
    assert.deepEqual(await keys(ledger, 6), ['key-14', 'key-15', 'key-16', 'key-17', 'key-18', 'key-19'])
    assert.equal((await keys(ledger)).length, 20)
  })

  test(`${kind}: results of alternating versions come in order of time`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 6; number++) ledger.record(sampleRow(number, { codeHash: `${number % 2}` }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger), ['key-0', 'key-1', 'key-2', 'key-3', 'key-4', 'key-5'])
  })

  test(`${kind}: only the newest version and the three before it are read`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 6; number++)
      ledger.record(sampleRow(number, { codeHash: `code-${number}` }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger), ['key-2', 'key-3', 'key-4', 'key-5'])
  })

  test(`${kind}: a version from the future is not the newest, and invalid rows are skipped`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    ledger.record(sampleRow(2, { codeHash: 'code-2', endedAt: Date.now() + 1e12 }))
    ledger.record(sampleRow(3, { parameters: 'nonsense' }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger, 1), ['key-1'])
    assert.ok((await ledger.counts()).skipped > 0)
  })
}
