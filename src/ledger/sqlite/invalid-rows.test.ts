/** Invalid rows in the file are skipped, and valid rows are still found. */
import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import type { Ledger, LedgerRow } from '../ledger.ts'
import type { SqliteLedgerLimits } from '../sqlite.ts'
import { sampleRow, sampleSnapshot } from '../testing/samples.ts'
import { eagerPruning, type Scratch, scratch } from '../testing/scratch.ts'

/** Writes directly to the database. */
function insert(db: DatabaseSync, number: number, fields: Record<string, SQLInputValue>): void {
  const { features, key, measure, quantities, ...own } = { ...sampleRow(number), ...fields }
  const names = Object.keys(own) as (keyof typeof own)[]
  const { lastInsertRowid } = db
    .prepare(`INSERT INTO jobs (${names}) VALUES (${names.map(() => '?')})`)
    .run(...names.map((name) => own[name]))
  db.prepare('INSERT INTO traits VALUES (?, ?, ?, ?)').run(lastInsertRowid, own.job, features, key)
  const side = { measures: measure, amounts: quantities }
  for (const [table, value] of Object.entries(side)) {
    if (value === 'meter' || value === '') continue
    db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?)`).run(lastInsertRowid, own.job, value)
  }
}

async function withInvalidRows(
  temporary: Scratch,
  change: (db: DatabaseSync) => void,
  limits: Partial<SqliteLedgerLimits> = eagerPruning,
): Promise<Ledger> {
  const ledger = await temporary.open()
  ledger.record(sampleRow(1))
  ledger.record(sampleRow(1_000))
  ledger.saveSnapshot(sampleSnapshot())
  await ledger.close()
  const db = new DatabaseSync(temporary.file)
  change(db)
  db.close()
  return temporary.open(limits)
}

/** Checks that the valid rows are found and the others are skipped. */
async function validRowsFound(ledger: Ledger, skipped: number): Promise<void> {
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 100 }), [sampleRow(1_000), sampleRow(1)])
  assert.equal((await ledger.counts()).skipped, skipped)
  const warm = await ledger.warm({ workload: 'julia', limit: 100 })
  assert.deepEqual(
    warm.map((row) => row.key),
    ['key-1', 'key-1000'],
  )
  assert.deepEqual(await ledger.snapshots('julia'), [sampleSnapshot()])
  ledger.record(sampleRow(2_000))
  await ledger.flush()
  assert.deepEqual((await ledger.recent({ workload: 'julia', limit: 1 }))[0], sampleRow(2_000))
}

const invalidFields: Partial<Record<keyof LedgerRow, SQLInputValue>>[] = [
  { work: -1 },
  { work: Infinity },
  { work: -Infinity },
  { work: 1e300 },
  { cpuMs: -5 },
  { peakMemoryMb: Infinity },
  { endedAt: Infinity },
  { endedAt: 8e15 },
  { endedAt: -1 },
  { outcome: 'splendid' },
  { parameters: '{"width":' },
  { parameters: '' },
  { features: '[1,2]' },
  { features: '{"pixels":null}' },
  { features: '{"pixels":1e999}' },
  { features: '\u0000' },
  { measure: 'guess' },
]

test('impossible numbers and texts are skipped, and reported in one line', async (t) => {
  const temporary = scratch(t)
  const ledger = await withInvalidRows(temporary, (db) => {
    for (const [number, fields] of invalidFields.entries()) insert(db, 10 + number, fields)
    assert.throws(() => insert(db, 99, { work: Number.NaN }), /NOT NULL/)
    assert.throws(() => insert(db, 99, { work: 'much' }), /REAL/)
  })
  await validRowsFound(ledger, invalidFields.length)
  assert.equal(temporary.reportedErrors.length, 1)
  assert.match(
    temporary.reportedErrors[0]!.message,
    /ledger .*ledger\.db: 17 invalid rows were skipped, .*: must be/,
  )
})

test('values of wrong types, in tables without type checks, are skipped', async (t) => {
  const invalid = [null, 'much', 5n, 2n ** 62n, new Uint8Array([1, 2])]
  const columns = Object.keys(sampleRow(1)).filter((name) => !['job', 'workload', 'codeHash'].includes(name))
  const temporary = scratch(t)
  const ledger = await withInvalidRows(temporary, (db) => {
    const names = Object.keys(sampleRow(1)).slice(0, 13)
    db.exec(`ALTER TABLE jobs RENAME TO strictJobs; CREATE TABLE jobs (${names});
      INSERT INTO jobs (rowid, ${names}) SELECT rowid, ${names} FROM strictJobs; DROP TABLE strictJobs;
      ALTER TABLE traits RENAME TO strictTraits; CREATE TABLE traits (id INTEGER PRIMARY KEY, job, features, key);
      INSERT INTO traits SELECT * FROM strictTraits; DROP TABLE strictTraits;
      DROP TABLE measures; CREATE TABLE measures (id INTEGER PRIMARY KEY, job, measure);
      DROP TABLE amounts; CREATE TABLE amounts (id INTEGER PRIMARY KEY, job, quantities);
      CREATE UNIQUE INDEX byJob ON jobs (job); CREATE INDEX jobsByCode ON jobs (workload, codeHash, endedAt)`)
    let number = 10
    for (const column of columns) {
      for (const value of invalid) {
        // Any text is valid in a text field, and missing features count as unknown.
        const isText = typeof sampleRow(1)[column as keyof LedgerRow] === 'string'
        const isFine = isText && (value === 'much' || value === null)
        if (!isFine) insert(db, number++, { [column]: value })
      }
    }
  })
  const rows = await ledger.recent({ workload: 'julia', limit: 1_000 })
  assert.deepEqual(rows, [sampleRow(1_000), sampleRow(1)])
  const warm = await ledger.warm({ workload: 'julia' })
  const good = ['key-1', 'key-1000']
  assert.deepEqual(
    warm
      .map((row) => row.key)
      .filter((key) => good.includes(key))
      .sort(),
    good,
  )
  ledger.record(sampleRow(2_000))
  await ledger.flush()
  for (const { work, cpuMs, peakMemoryMb } of warm) {
    for (const value of [work, cpuMs, peakMemoryMb]) assert.ok(Number.isFinite(value))
  }
})

test('invalid snapshots are skipped', async (t) => {
  const temporary = scratch(t)
  const ledger = await withInvalidRows(temporary, (db) => {
    const add = db.prepare("INSERT INTO snapshots VALUES ('julia', 'code-1', ?, ?, ?)")
    add.run('torn', 5, '{"slope":[1,')
    add.run('early', -1, '{}')
    add.run('late', Infinity, '{}')
    add.run('huge', 5, `"${'x'.repeat(5 * 2 ** 20)}"`)
  })
  assert.deepEqual(await ledger.snapshots('julia'), [sampleSnapshot()])
  assert.equal((await ledger.counts()).skipped, 4)
})

test('with too many invalid rows a query returns nothing until they are pruned', async (t) => {
  const temporary = scratch(t)
  const change = (db: DatabaseSync) => {
    db.exec('BEGIN')
    for (let number = 0; number < 10_600; number++) insert(db, 2_000 + number, { work: -1 })
    db.exec('COMMIT')
  }
  const unpruned = await withInvalidRows(temporary, change, { pruneAfterMs: 2 ** 30 })
  assert.deepEqual(await unpruned.recent({ workload: 'julia', limit: 1 }), [])
  await unpruned.close()
  const ledger = await temporary.open(eagerPruning)
  // Pruning deletes the invalid rows, and then the query finds the valid ones.
  while ((await ledger.recent({ workload: 'julia', limit: 1 })).length === 0);
  assert.deepEqual(await ledger.recent({ workload: 'julia', limit: 1 }), [sampleRow(1_000)])
})
