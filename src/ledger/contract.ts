/** What every ledger promises, as tests that run over each of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../lib/errors.ts'
import type { Ledger, LedgerRow } from './ledger.ts'

/** A row with everything in it; `number` makes it another job, ended later. */
export function sampleRow(number: number, differences: Partial<LedgerRow> = {}): LedgerRow {
  return {
    job: `job-${number}`,
    workload: 'julia',
    codeHash: 'code-1',
    parameters: `{"width":${number}}`,
    work: 1_000.5 + number,
    cpuMs: 12.25,
    wallMs: 20.5,
    peakMemoryMb: 64,
    worker: 'worker-1',
    attempts: 1,
    startedAt: 1_700_000_000_000 + number,
    endedAt: 1_700_000_000_020 + number,
    outcome: 'result',
    features: `{"pixels":${number}}`,
    key: `key-${number}`,
    measure: 'meter',
    quantities: '',
    ...differences,
  }
}

/** `open` gives a new, empty ledger and cleans up after the test; the tests may close it, or not. */
export function ledgerContract(kind: string, open: (t: TestContext) => Promise<Ledger>): void {
  const jobs = async (ledger: Ledger, codeHash?: string): Promise<string[]> => {
    const query = { workload: 'julia', limit: 100, ...(codeHash === undefined ? {} : { codeHash }) }
    return (await ledger.recent(query)).map((row) => row.job)
  }

  test(`${kind}: a row is read as it was recorded`, async (t) => {
    const ledger = await open(t)
    const row = sampleRow(1, { parameters: '{"text":"ü\'\\"\\n✓"}', outcome: 'error', attempts: 3, work: 0 })
    ledger.record(row)
    await ledger.flush()
    assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 10 }), [row])
    assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 0, skipped: 0 })
  })

  test(`${kind}: a row may be changed by its owner after it was recorded`, async (t) => {
    const ledger = await open(t)
    const row = sampleRow(1)
    ledger.record(row)
    row.work = -1
    await ledger.flush()
    assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 10 }), [sampleRow(1)])
  })

  test(`${kind}: the newest rows come first, whatever the order of recording`, async (t) => {
    const ledger = await open(t)
    for (const number of [2, 4, 1, 3]) ledger.record(sampleRow(number))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-4', 'job-3', 'job-2', 'job-1'])
    const two = await ledger.recent({ workload: 'julia', limit: 2 })
    assert.deepEqual(two, [sampleRow(4), sampleRow(3)])
  })

  test(`${kind}: of jobs that ended together the one recorded last comes first`, async (t) => {
    const ledger = await open(t)
    for (const number of [2, 3, 1]) ledger.record(sampleRow(number, { endedAt: 5 }))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-1', 'job-3', 'job-2'])
    assert.deepEqual(await jobs(ledger, 'code-1'), ['job-1', 'job-3', 'job-2'])
  })

  test(`${kind}: workloads and versions of their code are told apart`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    ledger.record(sampleRow(2, { codeHash: 'code-2' }))
    ledger.record(sampleRow(3, { workload: 'bfs' }))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-2', 'job-1'])
    assert.deepEqual(await jobs(ledger, 'code-1'), ['job-1'])
    assert.deepEqual(await jobs(ledger, 'code-3'), [])
    assert.deepEqual(await ledger.recent({ workload: 'unheard of', limit: 1 }), [])
  })

  test(`${kind}: recording a job again replaces its row`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1, { outcome: 'unknown' }))
    await ledger.flush()
    ledger.record(sampleRow(1, { work: 1 }))
    ledger.record(sampleRow(1, { work: 2 }))
    await ledger.flush()
    assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 10 }), [sampleRow(1, { work: 2 })])
    assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 0, skipped: 0 })
  })

  test(`${kind}: a row says how its work was measured, and recorded again, how it was then`, async (t) => {
    const ledger = await open(t)
    const measures = ['meter', 'header', 'cpu', 'time'] as const
    for (const [i, measure] of measures.entries()) ledger.record(sampleRow(i, { measure }))
    ledger.record(sampleRow(9, { measure: 'cpu' }))
    ledger.record(sampleRow(9))
    await ledger.flush()
    const rows = await ledger.recent({ workload: 'julia', limit: 10 })
    assert.deepEqual(
      rows.map(({ measure }) => measure),
      ['meter', 'time', 'cpu', 'header', 'meter'],
    )
  })

  test(`${kind}: a row says what its work is the sum of, and recorded again, what it was then`, async (t) => {
    const ledger = await open(t)
    for (const quantities of ['{"a":1}', '{"a":2}', '']) ledger.record(sampleRow(1, { quantities }))
    ledger.record(sampleRow(2, { quantities: '{"a":3}' }))
    await ledger.flush()
    const rows = await ledger.recent({ workload: 'julia', limit: 10 })
    assert.deepEqual(
      rows.map(({ quantities }) => quantities),
      ['{"a":3}', ''],
    )
  })

  test(`${kind}: malformed rows are dropped and counted, and harm no other`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    ledger.record(sampleRow(2, { work: Number.NaN }))
    for (const work of [-1, Infinity, 1e300]) ledger.record(sampleRow(2, { work }))
    ledger.record(sampleRow(2, { outcome: 'splendid' as LedgerRow['outcome'] }))
    ledger.record({ ...sampleRow(2), features: { pixels: 1 } } as unknown as LedgerRow)
    ledger.record({ ...sampleRow(2), key: undefined } as unknown as LedgerRow)
    ledger.record(sampleRow(2, { measure: 'guess' as LedgerRow['measure'] }))
    ledger.record({ ...sampleRow(3), parameters: { width: 3 } } as unknown as LedgerRow)
    ledger.record({ job: 'job-4' } as unknown as LedgerRow)
    ledger.record({ ...sampleRow(6), parameters: Object.create(null) } as LedgerRow)
    for (const row of [undefined, null, Symbol('row'), 7]) ledger.record(row as unknown as LedgerRow)
    ledger.record({ ...sampleRow(5), extra: () => {} } as LedgerRow)
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-5', 'job-1'])
    assert.deepEqual(await ledger.counts(), { rows: 2, dropped: 15, skipped: 0 })
  })

  test(`${kind}: rows whose text cannot be read are passed over and counted`, async (t) => {
    const ledger = await open(t)
    for (const [number, parameters] of ['', '{"width":', 'undefined', '{}'].entries()) {
      ledger.record(sampleRow(number, { parameters }))
    }
    for (const [number, features] of ['{', '[1]', '{"pixels":1e999}', '{"a":{}}', 'null', ''].entries()) {
      ledger.record(sampleRow(10 + number, { features }))
    }
    ledger.record(sampleRow(20, { endedAt: Date.now() + 1e9 }))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-15', 'job-3'])
    const [newest] = await ledger.recent({ workload: 'julia', limit: 1 })
    assert.equal(newest?.job, 'job-15')
    assert.deepEqual(await ledger.counts(), { rows: 11, dropped: 0, skipped: 10 })
  })

  test(`${kind}: a limit out of range is refused by name`, async (t) => {
    const ledger = await open(t)
    for (const limit of [0, -1, 1.5, Number.NaN, 100_001]) {
      await assert.rejects(
        ledger.recent({ workload: 'julia', limit }),
        (error) => error instanceof LedgerError && error.message.startsWith(`limit = ${limit}: must be`),
      )
    }
  })

  test(`${kind}: many rows, recorded at once, all arrive`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 3_000; number++) ledger.record(sampleRow(number))
    await ledger.flush()
    assert.deepEqual(await ledger.counts(), { rows: 3_000, dropped: 0, skipped: 0 })
    const [newest] = await ledger.recent({ workload: 'julia', codeHash: 'code-1', limit: 1 })
    assert.deepEqual(newest, sampleRow(2_999))
  })

  test(`${kind}: flushing nothing resolves, and so do flushes side by side`, async (t) => {
    const ledger = await open(t)
    await ledger.flush()
    ledger.record(sampleRow(1))
    const first = ledger.flush()
    ledger.record(sampleRow(2))
    await Promise.all([first, ledger.flush(), ledger.flush()])
    assert.deepEqual(await jobs(ledger), ['job-2', 'job-1'])
  })

  test(`${kind}: once closed it refuses everything but recording, which does nothing`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    await Promise.all([ledger.close(), ledger.close()])
    await ledger.close()
    ledger.record(sampleRow(2))
    const isClosed = (error: unknown) => error instanceof LedgerError && /closed/.test(error.message)
    await assert.rejects(ledger.flush(), isClosed)
    await assert.rejects(ledger.recent({ workload: 'julia', limit: 1 }), isClosed)
    await assert.rejects(ledger.counts(), isClosed)
    await assert.rejects(ledger.warm({ workload: 'julia' }), isClosed)
    await assert.rejects(ledger.snapshots('julia'), isClosed)
  })
}
