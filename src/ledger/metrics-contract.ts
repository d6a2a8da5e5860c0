/** What every ledger promises of metrics, as tests that run over each of them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../lib/errors.ts'
import type { Ledger } from './ledger.ts'
import type { MetricsRow } from './metrics.ts'

/** Of a running job, with everything in it. */
export function sampleMetrics(differences: Partial<MetricsRow> = {}): MetricsRow {
  return {
    workload: 'factorize',
    codeHash: 'code-1',
    parameters: '{"n":"15"}',
    work: 100.5,
    tally: '{"instructions":80,"blocks":7}',
    running: true,
    worker: 'worker-1',
    attempt: 'job-1/1',
    at: 1_700_000_000_000,
    ...differences,
  }
}

const other = { worker: 'worker-2', attempt: 'job-2/1' }

/** `open` gives a new, empty ledger and cleans up after the test. */
export function metricsContract(kind: string, open: (t: TestContext) => Promise<Ledger>): void {
  let requests = 0
  type Step = (ledger: Ledger, parameters: string) => void

  /** What is kept of a request that is new to the ledger after all of it was told, in order. */
  async function keptAfter(ledger: Ledger, ...steps: Step[]) {
    const parameters = `{"n":"${++requests}"}`
    for (const step of steps) step(ledger, parameters)
    await ledger.flush()
    const { parameters: _, ...kept } = (await ledger.metricsFor(sampleMetrics({ parameters })))!
    return kept
  }
  const record =
    (row: Partial<MetricsRow>): Step =>
    (ledger, parameters) =>
      ledger.recordMetrics(sampleMetrics({ ...row, parameters }))
  const gone =
    (owner: Partial<MetricsRow>): Step =>
    (ledger) =>
      ledger.metricsOwnerGone(owner)
  const expected = (row: Partial<MetricsRow> = {}) => {
    const { parameters: _, ...rest } = sampleMetrics(row)
    return rest
  }
  const final = { running: false, work: 900 }

  test(`${kind}: metrics are read as they were recorded, by workload, code and parameters`, async (t) => {
    const ledger = await open(t)
    const rows = [
      sampleMetrics(),
      sampleMetrics({ workload: 'julia' }),
      sampleMetrics({ codeHash: 'code-2', running: false }),
      sampleMetrics({ parameters: '{"text":"ü\'\\"✓"}' }),
    ]
    for (const row of rows) ledger.recordMetrics(row)
    await ledger.flush()
    for (const row of rows) assert.deepEqual(await ledger.metricsFor(row), row)
    assert.equal(await ledger.metricsFor(sampleMetrics({ parameters: '{}' })), undefined)
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 0, skipped: 0 })
  })

  test(`${kind}: the owner of a running row writes it again and again`, async (t) => {
    const ledger = await open(t)
    const kept = await keptAfter(ledger, record({}), record({ work: 200 }), record({ work: 300 }))
    assert.deepEqual(kept, expected({ work: 300 }))
  })

  test(`${kind}: nobody else writes it, in another worker or another attempt`, async (t) => {
    const ledger = await open(t)
    for (const someone of [other, { worker: 'worker-2' }, { attempt: 'job-1/2' }]) {
      assert.deepEqual(await keptAfter(ledger, record({}), record({ ...someone, work: 9 })), expected())
    }
  })

  test(`${kind}: final metrics complete a row, whoever owns it, or make a complete one`, async (t) => {
    const ledger = await open(t)
    assert.deepEqual(await keptAfter(ledger, record({}), record(final)), expected(final))
    const byOther = await keptAfter(ledger, record({}), record({ ...other, ...final }))
    assert.deepEqual(byOther, expected({ ...other, ...final }))
    assert.deepEqual(await keptAfter(ledger, record(final)), expected(final))
  })

  test(`${kind}: a complete row is never written again, nor taken over`, async (t) => {
    const ledger = await open(t)
    const more = [record({ work: 1 }), record({ ...final, work: 2 }), record({ ...other, ...final, work: 3 })]
    const leave = [gone({}), gone({ worker: 'worker-1' })]
    assert.deepEqual(await keptAfter(ledger, record(final), ...more, ...leave, ...more), expected(final))
  })

  test(`${kind}: a running row whose owner is gone may be taken over, and then is owned again`, async (t) => {
    const ledger = await open(t)
    for (const owner of [{ worker: 'worker-1' }, { attempt: 'job-1/1' }, {}]) {
      const nobodys = await keptAfter(ledger, record({}), gone(owner))
      assert.deepEqual(nobodys, expected({ worker: '', attempt: '' }))
      const taken = await keptAfter(
        ledger,
        record({}),
        gone(owner),
        record({ ...other, work: 5 }),
        record({}),
      )
      assert.deepEqual(taken, expected({ ...other, work: 5 }))
    }
  })

  test(`${kind}: that another owner is gone changes nothing`, async (t) => {
    const ledger = await open(t)
    const owners = [other, { worker: 'worker-2' }, { worker: 'worker-1', attempt: 'job-2/1' }]
    const kept = await keptAfter(ledger, record({}), ...owners.map(gone), record({ ...other, work: 9 }))
    assert.deepEqual(kept, expected())
  })

  test(`${kind}: the rule holds also between what is written apart`, async (t) => {
    const ledger = await open(t)
    for (const row of [{}, { ...other, work: 9 }, final, { work: 1 }, { ...other, ...final, work: 2 }]) {
      ledger.recordMetrics(sampleMetrics(row))
      await ledger.flush()
    }
    assert.deepEqual(await ledger.metricsFor(sampleMetrics()), sampleMetrics(final))
  })

  test(`${kind}: malformed metrics are dropped and counted, and harm no other`, async (t) => {
    const ledger = await open(t)
    ledger.recordMetrics(sampleMetrics({ work: Number.NaN }))
    ledger.recordMetrics({ ...sampleMetrics(), running: 1 } as unknown as MetricsRow)
    for (const row of [undefined, null, 7]) ledger.recordMetrics(row as unknown as MetricsRow)
    ledger.recordMetrics(sampleMetrics())
    await ledger.flush()
    assert.deepEqual(await ledger.metricsFor(sampleMetrics()), sampleMetrics())
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 5, skipped: 0 })
  })

  test(`${kind}: once closed it refuses to look metrics up, and recording them does nothing`, async (t) => {
    const ledger = await open(t)
    await ledger.close()
    ledger.recordMetrics(sampleMetrics())
    ledger.metricsOwnerGone({})
    await assert.rejects(ledger.metricsFor(sampleMetrics()), LedgerError)
  })
}
