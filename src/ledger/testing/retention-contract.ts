/** The contract of every ledger for retention, as tests. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Ledger, LedgerRow } from '../ledger.ts'
import type { RetentionLimits } from '../retention.ts'
import { sampleRow } from './samples.ts'

/** Pruned after every tenth row. */
const small: Partial<RetentionLimits> = {
  newest: 50,
  older: 20,
  olderVersions: 2,
  extremes: 4,
  others: 5,
  slack: 10,
}

/** Opens a new, empty ledger with these limits; it is closed and removed after the test. */
type Open = (t: TestContext, retention: Partial<RetentionLimits>) => Promise<Ledger>

export function retentionContract(kind: string, open: Open): void {
  selectionContract(kind, open)
  isolationContract(kind, open)
}

/** Waits until pruning has left only this number of rows, and returns them. */
async function pruned(ledger: Ledger, rows: number): Promise<LedgerRow[]> {
  await ledger.flush()
  while ((await ledger.counts()).rows > rows);
  const left = await ledger.recent({ workload: 'julia', limit: 100_000 })
  assert.equal(left.length, rows)
  return left
}

async function recordMany(
  ledger: Ledger,
  count: number,
  differences: (number: number) => Partial<LedgerRow>,
) {
  for (let number = 0; number < count; number++) ledger.record(sampleRow(number, differences(number)))
  await ledger.flush()
}

function selectionContract(kind: string, open: Open): void {
  test(`${kind}: the newest four rows of equal requests stay`, { timeout: 60_000 }, async (t) => {
    const ledger = await open(t, { slack: 10 })
    await recordMany(ledger, 100, (number) => ({ key: number % 2 ? 'odd' : 'even' }))
    const left = await pruned(ledger, 8)
    assert.deepEqual(
      left.map((row) => row.job),
      [99, 98, 97, 96, 95, 94, 93, 92].map((number) => `job-${number}`),
    )
  })

  test(`${kind}: the newest rows and the extremes stay`, { timeout: 60_000 }, async (t) => {
    const ledger = await open(t, small)
    const works = new Map([
      [3, 1],
      [20, 2],
      [100, 1_000_000],
      [130, 2_000_000],
    ])
    await recordMany(ledger, 200, (number) => ({ work: works.get(number) ?? 1_000 }))
    const left = await pruned(ledger, 36)
    const jobs = left.map((row) => Number(row.job.slice(4)))
    for (const number of works.keys()) assert.ok(jobs.includes(number), `${number} is extreme`)
    for (let number = 199; number >= 168; number--) assert.ok(jobs.includes(number), `${number} is new`)
    assert.deepEqual(left.at(-1), sampleRow(3, { work: 1 }), 'with its features and key')
  })

  test(`${kind}: fewer rows of older versions of the code stay, and none of the oldest`, {
    timeout: 60_000,
  }, async (t) => {
    const ledger = await open(t, { ...small, extremes: 0 })
    await recordMany(ledger, 400, (number) => ({ codeHash: `code-${Math.floor(number / 100)}` }))
    const left = await pruned(ledger, 80)
    const byCode = Map.groupBy(left, (row) => row.codeHash)
    assert.deepEqual(
      [...byCode].map(([code, rows]) => [code, rows.length]),
      [
        ['code-3', 40],
        ['code-2', 20],
        ['code-1', 20],
      ],
    )
  })
}

function isolationContract(kind: string, open: Open): void {
  test(`${kind}: failed jobs do not displace results`, { timeout: 60_000 }, async (t) => {
    const ledger = await open(t, small)
    await recordMany(ledger, 200, (number) => ({ outcome: number < 20 ? 'result' : 'error', key: '' }))
    const left = await pruned(ledger, 25)
    assert.equal(left.filter((row) => row.outcome === 'result').length, 20)
  })

  test(`${kind}: rows that ended at the same time are pruned too`, { timeout: 60_000 }, async (t) => {
    const ledger = await open(t, { ...small, extremes: 0 })
    await recordMany(ledger, 450, (number) => ({ endedAt: number < 400 ? 5_000 : 5_001 }))
    const left = await pruned(ledger, 40)
    assert.equal(left.at(-1)?.job, 'job-410')
  })

  test(`${kind}: pruning one workload leaves the others alone`, { timeout: 60_000 }, async (t) => {
    const ledger = await open(t, { ...small, extremes: 0 })
    await recordMany(ledger, 100, (number) => ({ workload: number < 9 ? 'bfs' : 'julia', key: '' }))
    await ledger.flush()
    while ((await ledger.counts()).rows > 50);
    assert.equal((await ledger.recent({ workload: 'bfs', limit: 100 })).length, 9)
  })
}
