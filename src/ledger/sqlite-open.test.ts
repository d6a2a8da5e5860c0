/** Opening a ledger file: what is made, what is refused, in which words, and that nothing stays behind. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { LedgerError } from '../lib/errors.ts'
import { sampleRow } from './contract.ts'
import { openSqliteLedger } from './sqlite.ts'
import { jobsAndAll } from './sqlite-jobs.ts'
import { hasty, scratch } from './test-scratch.ts'

/** The threads that run now. */
const threads = new Set<Worker>()
process.on('worker', (worker: Worker) => {
  threads.add(worker)
  worker.once('exit', () => threads.delete(worker))
})

const openAndClose = async (file: string) => (await openSqliteLedger({ file, limits: hasty })).close()

async function refused(file: string, ...words: RegExp[]): Promise<void> {
  await assert.rejects(openAndClose(file), (error) => {
    assert.ok(error instanceof LedgerError)
    assert.equal(error.code, 'LEDGER')
    assert.ok(error.message.startsWith(`ledger ${file}: `), error.message)
    for (const word of words) assert.match(error.message, word)
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

test('rows are there when the ledger is opened again, in one file and its lock', async (t) => {
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

test('a file of another name that is not a database is refused and left as it is', async (t) => {
  const { folder } = scratch(t)
  const file = join(folder, 'diary.txt')
  writeFileSync(file, 'my diary\n'.repeat(1000))
  await refused(file, /not a ledger/, /Move it away/)
  assert.equal(readFileSync(file, 'utf8'), 'my diary\n'.repeat(1000))
})

test('a newer layout is refused', async (t) => {
  const { file } = scratch(t)
  database(file, 'CREATE TABLE jobs (novelty); PRAGMA user_version = 99')
  await refused(file, /version 99/, /newer Plimsoll/)
})

test('a database of something else is refused', async (t) => {
  const { file } = scratch(t)
  database(file, 'CREATE TABLE diary (day)')
  await refused(file, /something else/, /another file/)
})

test('a damaged ledger of another name is refused', async (t) => {
  const { folder } = scratch(t)
  const file = join(folder, 'july.db')
  const ledger = await openSqliteLedger({ file })
  for (let number = 0; number < 200; number++) ledger.record(sampleRow(number))
  await ledger.close()
  const bytes = readFileSync(file)
  bytes.fill(0xee, 100, 4096)
  writeFileSync(file, bytes)
  await refused(file, /damaged/, /away, or restore/)
})

test('a folder in place of the file is refused', async (t) => {
  const { file } = scratch(t)
  mkdirSync(file, { recursive: true })
  await refused(file, /a folder is in its place/)
})

test('a file in place of the folder is refused', async (t) => {
  const { folder } = scratch(t)
  writeFileSync(join(folder, 'data'), '')
  await refused(join(folder, 'data', 'ledger.db'), /a file is in its place/)
})

test('a place where nobody may write is refused', async () => {
  await refused('/proc/self/ledger.db', /cannot be opened or created/, /may write there/)
})

test('a ledger that another Plimsoll has open is refused, and works again when that one ends', async (t) => {
  const { process, file, open } = scratch(t)
  const other = await process('ledger')
  await refused(file, /another running Plimsoll holds it/, /data directory of its own/)
  await other.kill()
  const ledger = await open()
  ledger.record(sampleRow(1))
  await ledger.flush()
})

test('a ledger is refused twice within one process, by another name too', async (t) => {
  const { open, file, folder } = scratch(t)
  const ledger = await open()
  const alias = join(folder, 'alias.db')
  symlinkSync(file, alias)
  for (const name of [file, alias]) {
    await assert.rejects(openAndClose(name), /another running Plimsoll holds it/)
  }
  ledger.record(sampleRow(1))
  await ledger.flush()
})

test('a file that another program is writing to is refused', async (t) => {
  const { process, file } = scratch(t)
  await process('lock')
  await refused(file, /another process is writing to it/)
})

test('other programs may read an open ledger', async (t) => {
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
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT * FROM ${jobsAndAll} WHERE ${where} ${order}`).all()
    assert.equal(plan.length, 4)
    assert.match(String(plan[0]!.detail), /^SEARCH jobs USING INDEX/)
    assert.match(String(plan[1]!.detail), /^SEARCH traits USING INTEGER PRIMARY KEY/)
    assert.match(String(plan[2]!.detail), /^SEARCH measures USING INTEGER PRIMARY KEY/)
    assert.match(String(plan[3]!.detail), /^SEARCH amounts USING INTEGER PRIMARY KEY/)
  }
  db.close()
})
