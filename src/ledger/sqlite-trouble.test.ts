/** Trouble after the start: nobody is stopped, nothing that fits is lost, and writing goes on afterwards. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { LedgerError } from '../lib/errors.ts'
import { sampleRow } from './contract.ts'
import type { Ledger } from './ledger.ts'
import { hasty, scratch } from './test-scratch.ts'

function recordMany(ledger: Ledger, from: number, to: number): void {
  for (let number = from; number < to; number++) ledger.record(sampleRow(number))
}

test('rows recorded while another program locks the file are written when it lets go', async (t) => {
  const { open, process, troubled, file } = scratch(t)
  const ledger = await open(hasty)
  recordMany(ledger, 0, 10)
  await ledger.flush()
  const other = await process('lock')
  const trouble = troubled()
  recordMany(ledger, 10, 1_500)
  const { message, code } = await trouble
  assert.equal(code, 'LEDGER')
  assert.match(message, /another process is writing to it.*1490 rows wait in memory, 0 were dropped/)
  assert.ok(message.includes(file))
  await other.ask('release')
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1_500, dropped: 0, skipped: 0 })
})

test('a flush that cannot succeed rejects, and the rows are written later', {
  timeout: 60_000,
}, async (t) => {
  const { open, process } = scratch(t)
  const ledger = await open({ ...hasty, flushMs: 50 })
  const other = await process('lock')
  recordMany(ledger, 0, 5)
  await assert.rejects(ledger.flush(), (error) => {
    assert.ok(error instanceof LedgerError)
    assert.match(error.message, /nothing could be written for 50 ms/)
    return true
  })
  await other.ask('release')
  let rows = 0
  while (rows < 5) rows = (await ledger.counts()).rows
  assert.deepEqual(await ledger.counts(), { rows: 5, dropped: 0, skipped: 0 })
})

test('when too many rows wait the oldest are dropped and counted', async (t) => {
  const { open, process, troubled } = scratch(t)
  const ledger = await open({ ...hasty, maxRows: 100 })
  const other = await process('lock')
  recordMany(ledger, 0, 40)
  await troubled()
  const refused = assert.rejects(ledger.flush(), /30 rows were dropped/)
  recordMany(ledger, 40, 130)
  await troubled()
  await other.ask('release')
  await refused
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 100, dropped: 30, skipped: 0 })
  const rows = await ledger.recent({ workload: 'julia', limit: 200 })
  assert.equal(rows.at(-1)!.job, 'job-30')
})

test('closing under trouble ends, and says how many rows are lost', async (t) => {
  const { open, process, troubles, troubled } = scratch(t)
  const ledger = await open({ ...hasty, flushMs: 50, troubleEveryMs: 60_000 })
  await process('lock')
  recordMany(ledger, 0, 7)
  await troubled()
  await ledger.close()
  assert.match(troubles.at(-1)!.message, /closed with 7 rows that could not be written and are lost/)
  assert.equal(troubles.length, 2, 'the first failure, then the loss')
})

test('a removed file is noticed and begun anew with the rows that were not yet confirmed', async (t) => {
  const { open, file, troubled } = scratch(t)
  const ledger = await open(hasty)
  recordMany(ledger, 0, 10)
  await ledger.flush()
  const trouble = troubled()
  rmSync(dirname(file), { recursive: true })
  recordMany(ledger, 10, 15)
  await ledger.flush()
  assert.match((await trouble).message, /removed or replaced/)
  await ledger.close()
  const again = await open()
  assert.deepEqual(await again.counts(), { rows: 5, dropped: 0, skipped: 0 })
})

test('a file that cannot be opened for a while loses nothing that is recorded meanwhile', async (t) => {
  const { open, file, troubled } = scratch(t)
  const ledger = await open(hasty)
  rmSync(dirname(file), { recursive: true })
  mkdirSync(file, { recursive: true })
  recordMany(ledger, 0, 10)
  while (!(await troubled()).message.includes('a folder is in its place'));
  await assert.rejects(ledger.recent({ workload: 'julia', limit: 1 }), /a folder is in its place/)
  rmdirSync(file)
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 10, dropped: 0, skipped: 0 })
})

test('a thread that dies is replaced', async (t) => {
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  const { open } = scratch(t)
  const ledger = await open(hasty)
  const worker = await started
  recordMany(ledger, 0, 10)
  await ledger.flush()
  await worker.terminate()
  recordMany(ledger, 10, 20)
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 20, dropped: 0, skipped: 0 })
})

test('a listener that throws harms nobody', async (t) => {
  const { open, troubles } = scratch(t)
  const ledger = await open(hasty)
  troubles.push = () => {
    throw new Error('from the listener')
  }
  ledger.record(sampleRow(1, { work: Infinity }))
  ledger.record(sampleRow(2))
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 1, skipped: 0 })
})

test('rows survive the sudden death of the process once they are flushed', async (t) => {
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

test('a full disk stops nobody, and nothing is lost once there is room again', {
  skip: !hasPrlimit && 'needs prlimit to bound the size of files',
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
  assert.match(String(await other.ask('trouble')), /disk.*10 rows wait in memory, 0 were dropped/)
  limitFileSize('unlimited')
  assert.equal(await other.ask('flush'), 'flushed')
  assert.deepEqual(await other.ask('count'), { rows: 20, dropped: 0, skipped: 0 })
})
