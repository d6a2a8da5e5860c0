/** Opening a ledger file: which files are rejected with which message, and that no thread is left behind. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { LedgerError } from '../../lib/errors.ts'
import { openSqliteLedger } from '../sqlite.ts'
import { sampleRow } from '../testing/samples.ts'
import { quickRetries, scratch } from '../testing/scratch.ts'
import { jobsWithSideTables } from './jobs-table.ts'

/** The running threads. */
const threads = new Set<Worker>()
process.on('worker', (worker: Worker) => {
  threads.add(worker)
  worker.once('exit', () => threads.delete(worker))
})

const openAndClose = async (file: string) => (await openSqliteLedger({ file, limits: quickRetries })).close()

async function rejected(file: string, ...patterns: RegExp[]): Promise<void> {
  await assert.rejects(openAndClose(file), (error) => {
    assert.ok(error instanceof LedgerError)
    assert.equal(error.code, 'LEDGER')
    assert.ok(error.message.startsWith(`ledger ${file}: `), error.message)
    for (const pattern of patterns) assert.match(error.message, pattern)
    return true
  })
  assert.equal(threads.size, 0, 'no thread is left behind')
}

function database(file: string, sql: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

test('rows survive reopening, in one file and its lock', async (t) => {
  const { open, file } = scratch(t)
  const first = await open()
  first.record(sampleRow(1))
  await first.close()
  assert.deepEqual(readdirSync(dirname(file)).sort(), ['ledger.db', 'ledger.db-lock'])
  const second = await open()
  assert.deepEqual(await second.recent({ workload: 'julia', limit: 1 }), [sampleRow(1)])
  await second.close()
  assert.equal(threads.size, 0)
})

test('a file of another name that is not a database is rejected and left unchanged', async (t) => {
  const { folder } = scratch(t)
  const file = join(folder, 'diary.txt')
  writeFileSync(file, 'my diary\n'.repeat(1000))
  await rejected(file, /not an SQLite database/, /Move it away/)
  assert.equal(readFileSync(file, 'utf8'), 'my diary\n'.repeat(1000))
})

test('a newer schema version is rejected', async (t) => {
  const { file } = scratch(t)
  database(file, 'CREATE TABLE jobs (novelty); PRAGMA user_version = 99')
  await rejected(file, /version 99/, /newer Plimsoll/)
})

test('a database of another application is rejected', async (t) => {
  const { file } = scratch(t)
  database(file, 'CREATE TABLE diary (day)')
  await rejected(file, /another application/, /another file/)
})

test('a damaged ledger of another name is rejected', async (t) => {
  const { folder } = scratch(t)
  const file = join(folder, 'july.db')
  const ledger = await openSqliteLedger({ file })
  for (let number = 0; number < 200; number++) ledger.record(sampleRow(number))
  await ledger.close()
  const bytes = readFileSync(file)
  bytes.fill(0xee, 100, 4096)
  writeFileSync(file, bytes)
  await rejected(file, /damaged/, /away, or restore/)
})

test('a folder in place of the file is rejected', async (t) => {
  const { file } = scratch(t)
  mkdirSync(file, { recursive: true })
  await rejected(file, /the path is a folder/)
})

test('a file in place of the folder is rejected', async (t) => {
  const { folder } = scratch(t)
  writeFileSync(join(folder, 'data'), '')
  await rejected(join(folder, 'data', 'ledger.db'), /a file has the same name/)
})

test('a path without write permission is rejected', async () => {
  await rejected('/proc/self/ledger.db', /cannot be opened or created/, /write permission/)
})

test('a ledger that another Plimsoll has open is rejected, and opens when that one has ended', async (t) => {
  const { process, file, open } = scratch(t)
  const other = await process('ledger')
  await rejected(file, /another running Plimsoll uses the same/, /data directory of its own/)
  await other.kill()
  const ledger = await open()
  ledger.record(sampleRow(1))
  await ledger.flush()
})

test('one process cannot open a ledger twice, not even by another name', async (t) => {
  const { open, file, folder } = scratch(t)
  const ledger = await open()
  const alias = join(folder, 'alias.db')
  symlinkSync(file, alias)
  for (const name of [file, alias]) {
    await assert.rejects(openAndClose(name), /another running Plimsoll uses the same/)
  }
  ledger.record(sampleRow(1))
  await ledger.flush()
})

test('a file that another program is writing to is rejected', async (t) => {
  const { process, file } = scratch(t)
  await process('lock')
  await rejected(file, /another process is writing to the file/)
})

test('other programs can read an open ledger', async (t) => {
  const { open, file } = scratch(t)
  const ledger = await open()
  ledger.record(sampleRow(1))
  await ledger.flush()
  const db = new DatabaseSync(file, { readOnly: true })
  assert.deepEqual({ ...db.prepare('SELECT job FROM jobs').get() }, { job: 'job-1' })
  db.close()
})

test('recent rows are found by index, without sorting', async (t) => {
  const { open, file } = scratch(t)
  await (await open()).close()
  const db = new DatabaseSync(file)
  for (const where of ['workload = 1', 'workload = 1 AND codeHash = 2']) {
    const order = 'ORDER BY endedAt DESC, jobs.rowid DESC'
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM ${jobsWithSideTables} WHERE ${where} ${order}`)
      .all()
    assert.equal(plan.length, 4)
    assert.match(String(plan[0]!.detail), /^SEARCH jobs USING INDEX/)
    assert.match(String(plan[1]!.detail), /^SEARCH traits USING INTEGER PRIMARY KEY/)
    assert.match(String(plan[2]!.detail), /^SEARCH measures USING INTEGER PRIMARY KEY/)
    assert.match(String(plan[3]!.detail), /^SEARCH amounts USING INTEGER PRIMARY KEY/)
  }
  db.close()
})
