/** The contract of every ledger for metrics, as tests. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LedgerError } from '../../lib/errors.ts'
import type { Ledger } from '../ledger.ts'
import type { MetricsRow } from '../metrics.ts'
import { sampleMetrics } from './samples.ts'

/** Opens a new, empty ledger that is closed and removed after the test. */
type Open = (t: TestContext) => Promise<Ledger>
type Step = (ledger: Ledger, parameters: string) => void

const other = { worker: 'worker-2', attempt: 'job-2/1' }
const final = { running: false, work: 900 }
let requests = 0

export function metricsContract(kind: string, open: Open): void {
  recordingContract(kind, open)
  listingContract(kind, open)
  ownershipContract(kind, open)
}

/** Performs the steps for a new request, and returns its row without the parameters. */
async function keptAfter(ledger: Ledger, ...steps: Step[]) {
  const parameters = `{"n":"${++requests}"}`
  for (const step of steps) step(ledger, parameters)
  await ledger.flush()
  const { parameters: _, ...kept } = (await ledger.metricsFor(sampleMetrics({ parameters })))!
  return kept
}

function record(row: Partial<MetricsRow>): Step {
  return (ledger, parameters) => ledger.recordMetrics(sampleMetrics({ ...row, parameters }))
}

function release(owner: Partial<MetricsRow>): Step {
  return (ledger) => ledger.releaseMetrics(owner)
}

function expected(row: Partial<MetricsRow> = {}) {
  const { parameters: _, ...rest } = sampleMetrics(row)
  return rest
}

function recordingContract(kind: string, open: Open): void {
  test(`${kind}: metrics are read back by workload, code and parameters`, async (t) => {
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

  test(`${kind}: metrics of long parameters are stored by hash and found by the parameters`, async (t) => {
    const ledger = await open(t)
    const long = (letter: string) => JSON.stringify({ text: letter.repeat(100_000) })
    const rows = ['a', 'b'].map((letter, work) => sampleMetrics({ parameters: long(letter), work }))
    for (const row of rows) ledger.recordMetrics(row)
    await ledger.flush()
    for (const row of rows) {
      const kept = await ledger.metricsFor(row)
      assert.equal(kept!.work, row.work)
      assert.match(kept!.parameters, /^\{"sha256":"[\w-]{43}","characters":100011\}$/)
    }
  })

  test(`${kind}: the owner of a running row may write it repeatedly`, async (t) => {
    const ledger = await open(t)
    const kept = await keptAfter(ledger, record({}), record({ work: 200 }), record({ work: 300 }))
    assert.deepEqual(kept, expected({ work: 300 }))
  })

  test(`${kind}: another worker or attempt may not write a running row`, async (t) => {
    const ledger = await open(t)
    for (const someone of [other, { worker: 'worker-2' }, { attempt: 'job-1/2' }]) {
      assert.deepEqual(await keptAfter(ledger, record({}), record({ ...someone, work: 9 })), expected())
    }
  })

  test(`${kind}: final metrics complete a row of any owner, or create a complete row`, async (t) => {
    const ledger = await open(t)
    assert.deepEqual(await keptAfter(ledger, record({}), record(final)), expected(final))
    const byOther = await keptAfter(ledger, record({}), record({ ...other, ...final }))
    assert.deepEqual(byOther, expected({ ...other, ...final }))
    assert.deepEqual(await keptAfter(ledger, record(final)), expected(final))
  })

  test(`${kind}: malformed metrics are dropped and counted, and valid ones are kept`, async (t) => {
    const ledger = await open(t)
    ledger.recordMetrics(sampleMetrics({ work: Number.NaN }))
    ledger.recordMetrics({ ...sampleMetrics(), running: 1 } as unknown as MetricsRow)
    for (const row of [undefined, null, 7]) ledger.recordMetrics(row as unknown as MetricsRow)
    ledger.recordMetrics(sampleMetrics())
    await ledger.flush()
    assert.deepEqual(await ledger.metricsFor(sampleMetrics()), sampleMetrics())
    assert.deepEqual(await ledger.counts(), { rows: 0, dropped: 5, skipped: 0 })
  })

  test(`${kind}: a closed ledger rejects queries of metrics, and recording them does nothing`, async (t) => {
    const ledger = await open(t)
    await ledger.close()
    ledger.recordMetrics(sampleMetrics())
    ledger.releaseMetrics({})
    await assert.rejects(ledger.metricsFor(sampleMetrics()), LedgerError)
  })
}

function listingContract(kind: string, open: Open): void {
  test(`${kind}: metrics of running and ended requests of a workload are listed, written last first`, async (t) => {
    const ledger = await open(t)
    const row = (parameters: string, at: number, more: Partial<MetricsRow> = {}) =>
      sampleMetrics({ parameters, at, ...more })
    const [first, second, third] = [row('1', 5), row('2', 5), row('3', 4, final)]
    for (const each of [first, second, third, row('4', 9, { workload: 'julia' })]) ledger.recordMetrics(each)
    ledger.recordMetrics({ ...first, at: 7, work: 200 })
    await ledger.flush()
    const list = (limit: number) => ledger.recentMetrics({ workload: 'factorize', limit })
    assert.deepEqual(await list(10), [{ ...first, at: 7, work: 200 }, second, third])
    assert.deepEqual(await list(1), [{ ...first, at: 7, work: 200 }])
    await assert.rejects(list(0), LedgerError)
  })
}

function ownershipContract(kind: string, open: Open): void {
  test(`${kind}: a complete row never changes its metrics or its owner`, async (t) => {
    const ledger = await open(t)
    const more = [record({ work: 1 }), record({ ...final, work: 2 }), record({ ...other, ...final, work: 3 })]
    const releases = [release({}), release({ worker: 'worker-1' })]
    assert.deepEqual(await keptAfter(ledger, record(final), ...more, ...releases, ...more), expected(final))
  })

  test(`${kind}: the next attempt that writes a released row becomes its owner`, async (t) => {
    const ledger = await open(t)
    for (const owner of [{ worker: 'worker-1' }, { attempt: 'job-1/1' }, {}]) {
      const released = await keptAfter(ledger, record({}), release(owner))
      assert.deepEqual(released, expected({ worker: '', attempt: '' }))
      const taken = await keptAfter(
        ledger,
        record({}),
        release(owner),
        record({ ...other, work: 5 }),
        record({}),
      )
      assert.deepEqual(taken, expected({ ...other, work: 5 }))
    }
  })

  test(`${kind}: releasing the rows of another owner changes nothing`, async (t) => {
    const ledger = await open(t)
    const owners = [other, { worker: 'worker-2' }, { worker: 'worker-1', attempt: 'job-2/1' }]
    const kept = await keptAfter(ledger, record({}), ...owners.map(release), record({ ...other, work: 9 }))
    assert.deepEqual(kept, expected())
  })

  test(`${kind}: the owner rule also applies across batches`, async (t) => {
    const ledger = await open(t)
    for (const row of [{}, { ...other, work: 9 }, final, { work: 1 }, { ...other, ...final, work: 2 }]) {
      ledger.recordMetrics(sampleMetrics(row))
      await ledger.flush()
    }
    assert.deepEqual(await ledger.metricsFor(sampleMetrics()), sampleMetrics(final))
  })
}
