/** Damaged files: the ledger uses what is intact, or renames the whole file and creates a new one. */
import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { share } from '../../../test/support/thorough.ts'
import { LedgerError } from '../../lib/errors.ts'
import { stream } from '../../lib/random.ts'
import { isDamage } from '../../lib/sqlite/errors.ts'
import { retentionLimits } from '../retention.ts'
import { openSqliteLedger } from '../sqlite.ts'
import { sampleRow, sampleSnapshot } from '../testing/samples.ts'
import { quickRetries, scratch } from '../testing/scratch.ts'
import { explainError } from './explain-error.ts'
import { openStore } from './store.ts'

const quarantined = (file: string) =>
  readdirSync(dirname(file)).filter((name) => /^ledger\.db\.damaged-\d{8}T\d{6}(-\d+)?$/.test(name))

/** A ledger of 300 rows and a snapshot. */
async function written(t: TestContext) {
  const temporary = scratch(t)
  const ledger = await temporary.open()
  for (let number = 0; number < 300; number++) ledger.record(sampleRow(number))
  ledger.saveSnapshot(sampleSnapshot({ json: JSON.stringify('x'.repeat(20_000)) }))
  await ledger.close()
  return { ...temporary, bytes: readFileSync(temporary.file) }
}

/** Performs every operation on a ledger, without its thread, so that hundreds of files can be tested. */
function use(file: string): 'fine' | 'renamed' | 'rejected' | 'damage' {
  let wasRenamed = false
  try {
    const onQuarantine = () => {
      wasRenamed = true
    }
    const store = openStore({
      file,
      busyMs: 0,
      retention: { ...retentionLimits, newest: 100, slack: 50 },
      onQuarantine,
    })
    try {
      const { rows } = store.warm({ workload: 'julia' })
      for (const { work, cpuMs } of rows) assert.ok(work >= 0 && cpuMs >= 0)
      store.recent({ workload: 'julia', limit: 100_000 })
      store.snapshots('julia')
      store.count()
      store.write([sampleRow(1_000), sampleRow(5)])
      store.writeSnapshots([sampleSnapshot()])
      while (store.prune());
    } finally {
      store.close()
    }
  } catch (error) {
    if (isDamage(error)) return 'damage'
    if (error instanceof LedgerError) return 'rejected'
    const { message } = explainError(error, file)
    assert.match(message, /^ledger .*: .*\./)
    return 'rejected'
  }
  return wasRenamed ? 'renamed' : 'fine'
}

/** Checks that the renamed file is complete. SQLite may have changed counters in its first 100 bytes. */
function isKept(file: string, damaged: Uint8Array, from = 100): void {
  const kept = readFileSync(join(dirname(file), quarantined(file)[0]!))
  assert.ok(kept.subarray(from).equals(damaged.subarray(from)))
}

function renew(file: string, bytes: Uint8Array): void {
  rmSync(dirname(file), { recursive: true })
  mkdirSync(dirname(file))
  writeFileSync(file, bytes)
}

test('a truncated file is renamed, wherever it was cut', async (t) => {
  const { file, bytes } = await written(t)
  const lengths = [1, 2, 15, 16, 50, 99, 100, 101, 511, 512, 1_000, 4_095, 4_096, 4_097, 8_192, 12_288]
  for (let length = 16_384; length < bytes.length; length += 4_096) lengths.push(length, length + 1_234)
  lengths.push(bytes.length - 4_096, bytes.length - 1)
  for (const length of lengths) {
    const cut = bytes.subarray(0, length)
    renew(file, cut)
    const end = use(file)
    // A truncated last page is only noticed when it is read.
    const isFound = end === 'renamed' || (end === 'damage' && length > bytes.length - 4_096)
    assert.ok(isFound, `${end}: cut to ${length} of ${bytes.length} bytes`)
    if (end === 'renamed') isKept(file, cut)
  }
  renew(file, bytes.subarray(0, 0))
  assert.equal(use(file), 'fine', 'an empty file is a new one')
  renew(file, bytes)
  assert.equal(use(file), 'fine')
})

test('flipped bytes are tolerated, detected, or rejected with a message', async (t) => {
  const { file, bytes } = await written(t)
  const random = stream(1, 'damage')
  const seen = new Set<string>()
  for (let round = 0; round < share(500); round++) {
    const damaged = Buffer.from(bytes)
    const span = round % 2 ? bytes.length : 4_096
    for (let flips = 0; flips <= round % 8; flips++) damaged[random.below(span)]! ^= 1 << random.below(8)
    renew(file, damaged)
    const end = use(file)
    seen.add(end)
    if (end === 'renamed') isKept(file, damaged)
  }
  assert.ok(seen.has('fine') && seen.has('renamed') && seen.has('damage'), [...seen].join())
})

test('a corrupt header is tolerated, detected, or rejected with a message', async (t) => {
  const { file, bytes } = await written(t)
  for (let offset = 0; offset < 100; offset++) {
    const damaged = Buffer.from(bytes)
    damaged[offset]! ^= offset % 2 ? 0x40 : 0x01
    renew(file, damaged)
    const end = use(file)
    // A corrupt version of the format or the schema cannot be distinguished from a future version.
    const isVersion = offset === 18 || (offset >= 60 && offset < 64)
    assert.equal(end === 'rejected', isVersion, `byte ${offset}: ${end}`)
  }
})

test('corrupt pages are tolerated or detected', async (t) => {
  const { file, bytes } = await written(t)
  for (let page = 0; page < bytes.length / 4_096; page++) {
    const damaged = Buffer.from(bytes).fill(page % 2 ? 0 : 0xee, page * 4_096, (page + 1) * 4_096)
    renew(file, damaged)
    const end = use(file)
    assert.notEqual(end, 'rejected', `page ${page}`)
    if (end === 'renamed') isKept(file, damaged)
  }
})

test('a corrupt log is ignored', async (t) => {
  const { file, bytes } = await written(t)
  const random = stream(2, 'damage')
  for (const length of [1, 32, 100, 5_000, 100_000]) {
    renew(file, bytes)
    writeFileSync(
      `${file}-wal`,
      Uint8Array.from({ length }, () => random.below(256)),
    )
    assert.equal(use(file), 'fine', `${length} bytes`)
  }
})

test('the intact part of a truncated log is used', async (t) => {
  const { file, process } = scratch(t)
  const other = await process('ledger')
  for (let batch = 0; batch < 5; batch++) {
    await other.ask('record')
    await other.ask('flush')
  }
  await other.kill()
  const log = readFileSync(`${file}-wal`)
  const main = readFileSync(file)
  for (let part = 0; part <= 20; part++) {
    renew(file, main)
    writeFileSync(`${file}-wal`, log.subarray(0, Math.floor((log.length * part) / 20)))
    assert.equal(use(file), 'fine', `${part} twentieths`)
  }
})

test('start-up renames a damaged ledger, reports it in one line, and creates a new one', async (t) => {
  const { file, bytes, open, reportedErrors } = await written(t)
  const cut = bytes.subarray(0, 20_000)
  writeFileSync(file, cut)
  writeFileSync(`${file}-wal`, 'the log')
  const ledger = await open()
  assert.deepEqual(await ledger.warm({ workload: 'julia' }), [])
  ledger.record(sampleRow(1))
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 0, skipped: 0 })
  isKept(file, cut, 0)
  const [renamed] = quarantined(file)
  assert.equal(readFileSync(join(dirname(file), `${renamed}-wal`), 'utf8'), 'the log')
  assert.equal(reportedErrors.length, 1)
  const { message } = reportedErrors[0]!
  assert.ok(message.startsWith(`ledger ${file}: the file is damaged (`), message)
  assert.ok(message.includes(`${renamed} and a new ledger was created`), message)
  assert.ok(!message.includes('\n'))
})

test('a ledger.db that is not a database is renamed each time, and never deleted', async (t) => {
  const { file, open } = scratch(t)
  mkdirSync(dirname(file))
  const texts = ['my diary\n'.repeat(1_000), 'my other diary\n'.repeat(1_000)]
  for (const text of texts) {
    writeFileSync(file, text)
    await (await open()).close()
  }
  const kept = quarantined(file).map((name) => readFileSync(join(dirname(file), name), 'utf8'))
  assert.deepEqual(kept.sort(), texts.sort())
})

test('rows recorded after damage was detected are written to a new ledger', async (t) => {
  const { file, bytes, open, reportedErrors } = await written(t)
  const db = new DatabaseSync(file)
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'jobsByCode'").get()!
  db.close()
  const start = (Number(rootpage) - 1) * 4_096
  const damaged = Buffer.from(bytes).fill(0xee, start, start + 4_096)
  writeFileSync(file, damaged)
  // Opening succeeds, because it does not read that page.
  const ledger = await open({ ...quickRetries, pruneAfterMs: 60_000 })
  assert.equal(reportedErrors.length, 0)
  for (let number = 0; number < 10; number++) ledger.record(sampleRow(number))
  ledger.saveSnapshot(sampleSnapshot())
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 10, dropped: 0, skipped: 0 })
  assert.equal((await ledger.warm({ workload: 'julia' })).length, 10)
  assert.equal(reportedErrors.length, 1)
  assert.match(String(reportedErrors[0]), /the file is damaged .* a new ledger was created/)
  assert.equal(quarantined(file).length, 1)
})

test('a query that detects damage is answered by the new ledger', async (t) => {
  const { file, bytes, open } = await written(t)
  writeFileSync(file, Buffer.from(bytes).fill(0xee, 4_096))
  const ledger = await open(quickRetries)
  assert.deepEqual(await ledger.warm({ workload: 'julia' }), [])
  assert.deepEqual(await ledger.snapshots('julia'), [])
  assert.equal(quarantined(file).length, 1)
})

test('a damaged ledger that another process has open is not renamed', async (t) => {
  const { process, file } = scratch(t)
  const other = await process('ledger')
  await other.ask('record')
  await other.ask('flush')
  const copy = join(dirname(file), 'copy.db')
  copyFileSync(file, copy)
  writeFileSync(file, 'garbage')
  await assert.rejects(
    openSqliteLedger({ file, limits: quickRetries }),
    /another running Plimsoll uses the same/,
  )
  assert.deepEqual(quarantined(file), [])
  assert.ok(existsSync(file) && basename(file) === 'ledger.db')
})
