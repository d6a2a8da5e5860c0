/** What every ledger promises to estimators that start, as tests that run over each of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../lib/errors.ts'
import { sampleRow } from './contract.ts'
import type { Ledger } from './ledger.ts'

/** `open` gives a new, empty ledger and cleans up after the test. */
export function warmContract(kind: string, open: (t: TestContext) => Promise<Ledger>): void {
  const keys = async (ledger: Ledger, limit?: number) => {
    const rows = await ledger.warm({ workload: 'julia', ...(limit === undefined ? {} : { limit }) })
    return rows.map((row) => row.key)
  }

  test(`${kind}: a warm row has what estimators need, and nothing else`, async (t) => {
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
    assert.deepEqual(await ledger.warm({ workload: 'unheard of' }), [])
  })

  test(`${kind}: results come oldest first, and if they are too many the newest of them`, async (t) => {
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

  test(`${kind}: the newest version of the code comes before others, however many rows they have`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 20; number++) {
      ledger.record(sampleRow(number, { codeHash: number < 15 ? 'code-1' : 'code-2' }))
    }
    await ledger.flush()
    assert.deepEqual(await keys(ledger, 3), ['key-17', 'key-18', 'key-19'])
    assert.deepEqual(await keys(ledger, 6), ['key-14', 'key-15', 'key-16', 'key-17', 'key-18', 'key-19'])
    assert.equal((await keys(ledger)).length, 20)
  })

  test(`${kind}: versions that went back and forth come in order of time`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 6; number++) ledger.record(sampleRow(number, { codeHash: `${number % 2}` }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger), ['key-0', 'key-1', 'key-2', 'key-3', 'key-4', 'key-5'])
  })

  test(`${kind}: only the newest version and three before it count`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 6; number++)
      ledger.record(sampleRow(number, { codeHash: `code-${number}` }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger), ['key-2', 'key-3', 'key-4', 'key-5'])
  })

  test(`${kind}: a version from the future is not the newest, and rows of no use are passed over`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    ledger.record(sampleRow(2, { codeHash: 'code-2', endedAt: Date.now() + 1e12 }))
    ledger.record(sampleRow(3, { parameters: 'nonsense' }))
    await ledger.flush()
    assert.deepEqual(await keys(ledger, 1), ['key-1'])
    assert.ok((await ledger.counts()).skipped > 0)
  })

  test(`${kind}: a limit of warm rows that is out of range is refused by name`, async (t) => {
    const ledger = await open(t)
    for (const limit of [0, -1, 1.5, Number.NaN, 100_001]) {
      await assert.rejects(
        ledger.warm({ workload: 'julia', limit }),
        (error) => error instanceof LedgerError && error.message.startsWith(`limit = ${limit}: must be`),
      )
    }
  })
}
