/** Failures while the ledger is in use: callers are not blocked, no row within the limits is lost, and writing resumes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { LedgerError } from '../../lib/errors.ts'
import type { Ledger } from '../ledger.ts'
import { sampleRow } from '../testing/samples.ts'
import { quickRetries, scratch } from '../testing/scratch.ts'

function recordMany(ledger: Ledger, from: number, to: number): void {
  for (let number = from; number < to; number++) ledger.record(sampleRow(number))
}

test('rows recorded while another program locks the file are written when it unlocks it', async (t) => {
  const { open, process, nextError, file } = scratch(t)
  const ledger = await open(quickRetries)
  recordMany(ledger, 0, 10)
  await ledger.flush()
  const other = await process('lock')
  const failure = nextError()
  recordMany(ledger, 10, 1_500)
  const { message, code } = await failure
  assert.equal(code, 'LEDGER')
  assert.match(message, /another process is writing to the file.*1490 rows wait in memory, 0 were dropped/)
  assert.ok(message.includes(file))
  await other.ask('release')
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1_500, dropped: 0, skipped: 0 })
})

test('a flush that cannot succeed rejects, and the rows are written later', {
  timeout: 60_000,
}, async (t) => {
  const { open, process } = scratch(t)
  const ledger = await open({ ...quickRetries, flushMs: 50 })
  const other = await process('lock')
  recordMany(ledger, 0, 5)
  await assert.rejects(ledger.flush(), (error) => {
    assert.ok(error instanceof LedgerError)
    assert.match(error.message, /no write succeeded for 50 ms/)
    return true
  })
  await other.ask('release')
  let rows = 0
  while (rows < 5) rows = (await ledger.counts()).rows
  assert.deepEqual(await ledger.counts(), { rows: 5, dropped: 0, skipped: 0 })
})

test('a full buffer drops and counts the oldest rows', async (t) => {
  const { open, process, nextError } = scratch(t)
  const ledger = await open({ ...quickRetries, maxRows: 100 })
  const other = await process('lock')
  recordMany(ledger, 0, 40)
  await nextError()
  const rejected = assert.rejects(ledger.flush(), /30 rows were dropped/)
  recordMany(ledger, 40, 130)
  await nextError()
  await other.ask('release')
  await rejected
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 100, dropped: 30, skipped: 0 })
  const rows = await ledger.recent({ workload: 'julia', limit: 200 })
  assert.equal(rows.at(-1)!.job, 'job-30')
})

test('closing a locked ledger reports the number of lost rows', async (t) => {
  const { open, process, reportedErrors, nextError } = scratch(t)
  const ledger = await open({ ...quickRetries, flushMs: 50, errorEveryMs: 60_000 })
  await process('lock')
  recordMany(ledger, 0, 7)
  await nextError()
  await ledger.close()
  assert.match(reportedErrors.at(-1)!.message, /closed; 7 unwritten rows are lost/)
  assert.equal(reportedErrors.length, 2, 'the first failure, then the loss')
})

test('a removed file is created again with the rows that were not flushed', async (t) => {
  const { open, file, nextError } = scratch(t)
  const ledger = await open(quickRetries)
  recordMany(ledger, 0, 10)
  await ledger.flush()
  const failure = nextError()
  rmSync(dirname(file), { recursive: true })
  recordMany(ledger, 10, 15)
  await ledger.flush()
  assert.match((await failure).message, /removed or replaced/)
  await ledger.close()
  const again = await open()
  assert.deepEqual(await again.counts(), { rows: 5, dropped: 0, skipped: 0 })
})

test('rows recorded while the file cannot be opened are written later', async (t) => {
  const { open, file, nextError } = scratch(t)
  const ledger = await open(quickRetries)
  rmSync(dirname(file), { recursive: true })
  mkdirSync(file, { recursive: true })
  recordMany(ledger, 0, 10)
  while (!(await nextError()).message.includes('the path is a folder'));
  await assert.rejects(ledger.recent({ workload: 'julia', limit: 1 }), /the path is a folder/)
  rmdirSync(file)
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 10, dropped: 0, skipped: 0 })
})

test('a terminated thread is replaced', async (t) => {
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  const { open } = scratch(t)
  const ledger = await open(quickRetries)
  const worker = await started
  recordMany(ledger, 0, 10)
  await ledger.flush()
  await worker.terminate()
  recordMany(ledger, 10, 20)
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 20, dropped: 0, skipped: 0 })
})

test('an error thrown by the listener is ignored', async (t) => {
  const { open, reportedErrors } = scratch(t)
  const ledger = await open(quickRetries)
  reportedErrors.push = () => {
    throw new Error('from the listener')
  }
  ledger.record(sampleRow(1, { work: Infinity }))
  ledger.record(sampleRow(2))
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 1, skipped: 0 })
})

test('flushed rows survive a killed process', async (t) => {
  const { open, process } = scratch(t)
  const other = await process('ledger')
  await other.ask('record')
  assert.equal(await other.ask('flush'), 'flushed')
  await other.kill()
  const ledger = await open()
  assert.deepEqual(await ledger.counts(), { rows: 10, dropped: 0, skipped: 0 })
})

test('using a ledger prints nothing', async (t) => {
  const { process } = scratch(t)
  const other = await process('ledger')
  await other.ask('record')
  await other.ask('close')
  await other.kill()
  assert.equal(other.errors(), '')
})

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

test('rows recorded while the disk is full are written when it has space again', {
  skip: !hasPrlimit && 'requires prlimit to limit file sizes',
}, async (t) => {
  const { process } = scratch(t)
  const other = await process('ledger')
  const limitFileSize = (bytes: string) => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', `${other.child.pid}`, `--fsize=${bytes}:`])
    assert.equal(status, 0, String(stderr))
  }
  await other.ask('record')
  await other.ask('flush')
  limitFileSize('4096')
  await other.ask('record')
  assert.match(String(await other.ask('error')), /disk.*10 rows wait in memory, 0 were dropped/)
  limitFileSize('unlimited')
  assert.equal(await other.ask('flush'), 'flushed')
  assert.deepEqual(await other.ask('count'), { rows: 20, dropped: 0, skipped: 0 })
})
