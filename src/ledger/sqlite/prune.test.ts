/**
 * Pruning in the background, also of files from older versions that never pruned.
 * `npm run -s bench -- ledger` measures it with a million rows.
 */
import assert from 'node:assert/strict'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sampleMetrics, sampleRow } from '../testing/samples.ts'
import { eagerPruning, scratch } from '../testing/scratch.ts'

/** Writes a file with the first version of the schema. */
function oldLedger(file: string, rows: number): void {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec(`CREATE TABLE jobs (
      job TEXT NOT NULL UNIQUE, workload TEXT NOT NULL, codeHash TEXT NOT NULL, parameters TEXT NOT NULL,
      work REAL NOT NULL, cpuMs REAL NOT NULL, wallMs REAL NOT NULL, peakMemoryMb REAL NOT NULL,
      worker TEXT NOT NULL, attempts REAL NOT NULL, startedAt REAL NOT NULL, endedAt REAL NOT NULL,
      outcome TEXT NOT NULL) STRICT;
    CREATE INDEX jobsByCode ON jobs (workload, codeHash, endedAt);
    CREATE INDEX jobsByWorkload ON jobs (workload, endedAt);
    PRAGMA user_version = 1; BEGIN`)
  const { features: _, key: __, measure: ___, quantities: ____, ...first } = sampleRow(0)
  const names = Object.keys(first) as (keyof typeof first)[]
  const insert = db.prepare(`INSERT INTO jobs (${names}) VALUES (${names.map(() => '?')})`)
  for (let number = 0; number < rows; number++) {
    const row = sampleRow(number)
    insert.run(...names.map((name) => row[name]))
  }
  db.exec('COMMIT')
  db.close()
}

const small = { newest: 100, extremes: 0, slack: 10 }

test('a file of the first schema version opens, with unknown features and keys', async (t) => {
  const { open, file } = scratch(t)
  oldLedger(file, 2)
  const ledger = await open()
  const old = (number: number) => sampleRow(number, { features: '', key: '' })
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 9 }), [old(1), old(0)])
  ledger.record(sampleRow(1))
  ledger.record(sampleRow(2))
  await ledger.flush()
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 9 }), [sampleRow(2), sampleRow(1), old(0)])
  assert.deepEqual(
    (await ledger.warm({ workload: 'julia' })).map((row) => row.key),
    ['', 'key-1', 'key-2'],
  )
})

test('a file that was never pruned is pruned while it is written', {
  timeout: 60_000,
}, async (t) => {
  const { open, file, reportedErrors } = scratch(t)
  oldLedger(file, 3_000)
  const ledger = await open(eagerPruning, small)
  for (let number = 3_000; number < 3_005; number++) {
    ledger.record(sampleRow(number))
    await ledger.flush()
  }
  while ((await ledger.counts()).rows > 100);
  const [newest] = await ledger.recent({ workload: 'julia', limit: 1 })
  assert.deepEqual(newest, sampleRow(3_004))
  assert.deepEqual(reportedErrors, [])
})

test('pruning continues when the ledger is opened again', {
  timeout: 60_000,
}, async (t) => {
  const { open, file } = scratch(t)
  oldLedger(file, 3_000)
  const first = await open(eagerPruning, small)
  while ((await first.counts()).rows === 3_000);
  await first.close()
  const second = await open(eagerPruning, small)
  while ((await second.counts()).rows > 100);
})

test('pruning a job also deletes its traits', { timeout: 60_000 }, async (t) => {
  const { open, file } = scratch(t)
  const ledger = await open(eagerPruning, small)
  for (let number = 0; number < 1_000; number++) ledger.record(sampleRow(number))
  ledger.record(sampleRow(998, { work: 5 }))
  await ledger.flush()
  while ((await ledger.counts()).rows > 100);
  await ledger.close()
  const db = new DatabaseSync(file)
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()!.rows)
  assert.equal(count('traits'), count('jobs'))
  db.close()
})

test('metrics are pruned in order of creation', { timeout: 60_000 }, async (t) => {
  const { open } = scratch(t)
  const ledger = await open(eagerPruning, { metrics: 20, slack: 10 })
  const row = (number: number) => sampleMetrics({ parameters: `{"n":${number}}` })
  for (let number = 0; number < 300; number++) ledger.recordMetrics(row(number))
  for (let again = 0; again < 30; again++) ledger.recordMetrics({ ...row(290), work: again })
  await ledger.flush()
  while (await ledger.metricsFor(row(279)));
  assert.deepEqual(await ledger.metricsFor(row(280)), row(280))
  assert.deepEqual(await ledger.metricsFor(row(290)), { ...row(290), work: 29 })
  assert.deepEqual(await ledger.metricsFor(row(299)), row(299))
})

test('changed row numbers lose features and keys, but no rows', async (t) => {
  const { open, file } = scratch(t)
  const ledger = await open()
  for (const number of [1, 2]) ledger.record(sampleRow(number))
  await ledger.close()
  const db = new DatabaseSync(file)
  db.exec(
    "UPDATE jobs SET rowid = rowid + 1 WHERE job = 'job-2'; UPDATE jobs SET rowid = 2 WHERE job = 'job-1'",
  )
  db.close()
  const again = await open()
  const rows = await again.recent({ workload: 'julia', limit: 9 })
  assert.deepEqual(
    rows.map(({ job, key }) => [job, key]),
    [
      ['job-2', ''],
      ['job-1', ''],
    ],
  )
})

test('names of workloads and versions are found by index, without a table scan', async (t) => {
  const { open, file } = scratch(t)
  await (await open()).close()
  const db = new DatabaseSync(file)
  const hops = ['workload > 1', 'workload = 1 AND codeHash > 2']
  for (const [index, where] of hops.entries()) {
    const column = ['workload', 'codeHash'][index]
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT min(${column}) FROM jobs WHERE ${where}`).all()
    assert.match(String(plan[0]!.detail), /SEARCH jobs USING COVERING INDEX/)
  }
  db.close()
})

test('the size of the file is bounded, whatever clients send', { timeout: 60_000 }, async (t) => {
  const { open, file } = scratch(t)
  const limits = { newest: 200, older: 50, others: 50, extremes: 8, slack: 50 }
  const ledger = await open(eagerPruning, limits)
  const [long, rows] = ['x'.repeat(50_000), 3_000]
  for (let number = 0; number < rows; number++) {
    const unique = `${long}${number}`
    const parameters = JSON.stringify({ text: unique })
    const outcome = number % 3 === 0 ? 'error' : 'result'
    ledger.record(sampleRow(number, { parameters, key: unique, features: parameters, outcome }))
    if (number % 500 === 0) await ledger.flush()
  }
  await ledger.flush()
  const limit = limits.newest + limits.others + limits.slack
  while ((await ledger.counts()).rows > limit) await setImmediate()
  await ledger.close()
  // A million rows of such parameters would be 50 GB; these would be 150 MB.
  const { size } = statSync(file)
  assert.ok(size < 4_000_000, `${size} bytes`)
})
