/** The contract of every ledger for rows, as tests. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../../lib/errors.ts'
import type { Ledger, LedgerRow } from '../ledger.ts'
import { sampleRow } from './samples.ts'

/** Opens a new, empty ledger that is closed and removed after the test. The test may close it earlier. */
type Open = (t: TestContext) => Promise<Ledger>

export function rowsContract(kind: string, open: Open): void {
  readingContract(kind, open)
  fieldsContract(kind, open)
  boundsContract(kind, open)
  validationContract(kind, open)
  flushingContract(kind, open)
}

async function jobs(ledger: Ledger, codeHash?: string): Promise<string[]> {
  const query = { workload: 'julia', limit: 100, ...(codeHash === undefined ? {} : { codeHash }) }
  return (await ledger.recent(query)).map((row) => row.job)
}

function readingContract(kind: string, open: Open): void {
  test(`${kind}: a row is read back unchanged`, async (t) => {
    const ledger = await open(t)
    const row = sampleRow(1, { parameters: '{"text":"ü\'\\"\\n✓"}', outcome: 'error', attempts: 3, work: 0 })
    ledger.record(row)
    await ledger.flush()
    assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 10 }), [row])
    assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 0, skipped: 0 })
  })

  test(`${kind}: the caller may change a row object after recording it`, async (t) => {
    const ledger = await open(t)
    const row = sampleRow(1)
    ledger.record(row)
    row.work = -1
    await ledger.flush()
    assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 10 }), [sampleRow(1)])
  })

  test(`${kind}: the newest rows come first, in whatever order they were recorded`, async (t) => {
    const ledger = await open(t)
    for (const number of [2, 4, 1, 3]) ledger.record(sampleRow(number))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-4', 'job-3', 'job-2', 'job-1'])
    const two = await ledger.recent({ workload: 'julia', limit: 2 })
    assert.deepEqual(two, [sampleRow(4), sampleRow(3)])
  })

  test(`${kind}: among jobs that ended at the same time, the one recorded last comes first`, async (t) => {
    const ledger = await open(t)
    for (const number of [2, 3, 1]) ledger.record(sampleRow(number, { endedAt: 5 }))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-1', 'job-3', 'job-2'])
    assert.deepEqual(await jobs(ledger, 'code-1'), ['job-1', 'job-3', 'job-2'])
  })

  test(`${kind}: rows of equal requests are selected by key`, async (t) => {
    const ledger = await open(t)
    for (const [number, key] of ['a', 'b', 'a', ''].entries()) ledger.record(sampleRow(number, { key }))
    ledger.record(sampleRow(4, { key: 'a', codeHash: 'newer' }))
    await ledger.flush()
    const found = async (query: { key: string; codeHash?: string }) =>
      (await ledger.recent({ workload: 'julia', limit: 9, ...query })).map(({ job }) => job)
    assert.deepEqual(await found({ key: 'a' }), ['job-4', 'job-2', 'job-0'])
    assert.deepEqual(await found({ key: 'a', codeHash: 'code-1' }), ['job-2', 'job-0'])
    assert.deepEqual(await found({ key: 'c', codeHash: 'code-1' }), [])
  })

  test(`${kind}: rows are selected by workload and version of the code`, async (t) => {
    const ledger = await open(t)
    ledger.record(sampleRow(1))
    ledger.record(sampleRow(2, { codeHash: 'code-2' }))
    ledger.record(sampleRow(3, { workload: 'bfs' }))
    await ledger.flush()
    assert.deepEqual(await jobs(ledger), ['job-2', 'job-1'])
    assert.deepEqual(await jobs(ledger, 'code-1'), ['job-1'])
    assert.deepEqual(await jobs(ledger, 'code-3'), [])
    assert.deepEqual(await ledger.recent({ workload: 'unknown', limit: 1 }), [])
  })
}

function fieldsContract(kind: string, open: Open): void {
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

  test(`${kind}: recording a job again replaces the measure of its work`, async (t) => {
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

  test(`${kind}: recording a job again replaces the quantities of its work`, async (t) => {
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
}

function boundsContract(kind: string, open: Open): void {
  test(`${kind}: long parameters are stored as their hash and length, long keys as their hash`, async (t) => {
    const ledger = await open(t)
    const long = (letter: string) => JSON.stringify({ text: letter.repeat(100_000) })
    const key = 'k'.repeat(5_000)
    ledger.record(sampleRow(1, { parameters: long('a'), key }))
    ledger.record(sampleRow(2, { parameters: long('b'), key }))
    ledger.record(sampleRow(3, { parameters: long('a'), key: `${key}k` }))
    ledger.record(sampleRow(4, { features: JSON.stringify({ name: 'f'.repeat(100_000) }) }))
    await ledger.flush()
    const [four, three, two, one] = await ledger.recent({ workload: 'julia', limit: 9 })
    assert.match(one!.parameters, /^\{"sha256":"[\w-]{43}","characters":100011\}$/)
    assert.equal(three!.parameters, one!.parameters)
    assert.notEqual(two!.parameters, one!.parameters)
    assert.match(one!.key, /^#[\w-]{43}$/)
    assert.equal(two!.key, one!.key)
    assert.notEqual(three!.key, one!.key)
    assert.equal(one!.features, sampleRow(1).features)
    assert.equal(four!.features, '')
  })

  test(`${kind}: a row with a name or an id of thousands of letters is malformed`, async (t) => {
    const ledger = await open(t)
    const long = 'x'.repeat(5_000)
    for (const field of ['job', 'workload', 'codeHash', 'worker', 'quantities'] as const)
      ledger.record(sampleRow(1, { [field]: long }))
    ledger.record(sampleRow(2))
    await ledger.flush()
    assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 5, skipped: 0 })
  })
}

function validationContract(kind: string, open: Open): void {
  test(`${kind}: malformed rows are dropped and counted, and valid rows are kept`, async (t) => {
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

  test(`${kind}: rows with invalid JSON or a future time are skipped and counted`, async (t) => {
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

  test(`${kind}: a limit out of range is rejected by name`, async (t) => {
    const ledger = await open(t)
    for (const limit of [0, -1, 1.5, Number.NaN, 100_001]) {
      await assert.rejects(
        ledger.recent({ workload: 'julia', limit }),
        (error) => error instanceof LedgerError && error.message.startsWith(`limit = ${limit}: must be`),
      )
    }
  })
}

function flushingContract(kind: string, open: Open): void {
  test(`${kind}: 3,000 rows recorded at once are all stored`, async (t) => {
    const ledger = await open(t)
    for (let number = 0; number < 3_000; number++) ledger.record(sampleRow(number))
    await ledger.flush()
    assert.deepEqual(await ledger.counts(), { rows: 3_000, dropped: 0, skipped: 0 })
    const [newest] = await ledger.recent({ workload: 'julia', codeHash: 'code-1', limit: 1 })
    assert.deepEqual(newest, sampleRow(2_999))
  })

  test(`${kind}: a flush without rows resolves, and so do concurrent flushes`, async (t) => {
    const ledger = await open(t)
    await ledger.flush()
    ledger.record(sampleRow(1))
    const first = ledger.flush()
    ledger.record(sampleRow(2))
    await Promise.all([first, ledger.flush(), ledger.flush()])
    assert.deepEqual(await jobs(ledger), ['job-2', 'job-1'])
  })

  test(`${kind}: a closed ledger rejects all calls except record, which does nothing`, async (t) => {
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
