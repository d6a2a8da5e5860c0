/** Damaged files: what is left is used, or the file is moved aside whole and a new one begun. Nothing is deleted. */
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
import { share } from '../../test/support/thorough.ts'
import { LedgerError } from '../lib/errors.ts'
import { stream } from '../lib/random.ts'
import { sampleRow } from './contract.ts'
import { growthLimits } from './growth.ts'
import { sampleSnapshot } from './snapshots-contract.ts'
import { openSqliteLedger } from './sqlite.ts'
import { isDamage } from './sqlite-aside.ts'
import { openStore } from './sqlite-store.ts'
import { explain } from './sqlite-trouble.ts'
import { hasty, scratch } from './test-scratch.ts'

const asides = (file: string) =>
  readdirSync(dirname(file)).filter((name) => /^ledger\.db\.damaged-\d{8}T\d{6}(-\d+)?$/.test(name))

/** A ledger of some hundred rows and a snapshot. */
async function written(t: TestContext) {
  const place = scratch(t)
  const ledger = await place.open()
  for (let number = 0; number < 300; number++) ledger.record(sampleRow(number))
  ledger.saveSnapshot(sampleSnapshot({ json: JSON.stringify('x'.repeat(20_000)) }))
  await ledger.close()
  return { ...place, bytes: readFileSync(place.file) }
}

/** Everything that is done with a ledger, without its thread: quick enough for hundreds of files. */
function use(file: string): 'fine' | 'aside' | 'refused' | 'damage' {
  let wasMoved = false
  try {
    const onSetAside = () => {
      wasMoved = true
    }
    const store = openStore({
      file,
      busyMs: 0,
      growth: { ...growthLimits, newest: 100, slack: 50 },
      onSetAside,
    })
    try {
      const { rows } = store.warm({ workload: 'julia' })
      for (const { work, cpuMs } of rows) assert.ok(work >= 0 && cpuMs >= 0)
      store.recent({ workload: 'julia', limit: 100_000 })
      store.snapshots('julia')
      store.count()
      store.write([sampleRow(1_000), sampleRow(5)])
      store.writeSnapshots([sampleSnapshot()])
      while (store.tidy());
    } finally {
      store.close()
    }
  } catch (error) {
    if (isDamage(error)) return 'damage'
    if (error instanceof LedgerError) return 'refused'
    const { message } = explain(error, file)
    assert.match(message, /^ledger .*: .*\./)
    return 'refused'
  }
  return wasMoved ? 'aside' : 'fine'
}

/** The whole of a damaged file is kept under its new name; SQLite may have counted in its first bytes. */
function isKept(file: string, damaged: Uint8Array, from = 100): void {
  const kept = readFileSync(join(dirname(file), asides(file)[0]!))
  assert.ok(kept.subarray(from).equals(damaged.subarray(from)))
}

function renew(file: string, bytes: Uint8Array): void {
  rmSync(dirname(file), { recursive: true })
  mkdirSync(dirname(file))
  writeFileSync(file, bytes)
}

test('a file that was cut off is moved aside, wherever it was cut', async (t) => {
  const { file, bytes } = await written(t)
  const lengths = [1, 2, 15, 16, 50, 99, 100, 101, 511, 512, 1_000, 4_095, 4_096, 4_097, 8_192, 12_288]
  for (let length = 16_384; length < bytes.length; length += 4_096) lengths.push(length, length + 1_234)
  lengths.push(bytes.length - 4_096, bytes.length - 1)
  for (const length of lengths) {
    const cut = bytes.subarray(0, length)
    renew(file, cut)
    const end = use(file)
    // What is missing of the last page is found by whoever needs it.
    const isFound = end === 'aside' || (end === 'damage' && length > bytes.length - 4_096)
    assert.ok(isFound, `${end}: cut to ${length} of ${bytes.length} bytes`)
    if (end === 'aside') isKept(file, cut)
  }
  renew(file, bytes.subarray(0, 0))
  assert.equal(use(file), 'fine', 'an empty file is a new one')
  renew(file, bytes)
  assert.equal(use(file), 'fine')
})

test('flipped bytes are lived with, or found, or refused in words', async (t) => {
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
    if (end === 'aside') isKept(file, damaged)
  }
  assert.ok(seen.has('fine') && seen.has('aside') && seen.has('damage'), [...seen].join())
})

test('a header that says anything is lived with, found, or refused in words', async (t) => {
  const { file, bytes } = await written(t)
  for (let place = 0; place < 100; place++) {
    const damaged = Buffer.from(bytes)
    damaged[place]! ^= place % 2 ? 0x40 : 0x01
    renew(file, damaged)
    const end = use(file)
    // Versions of the format and of the layout: whether that is damage or the future cannot be told.
    const isVersion = place === 18 || (place >= 60 && place < 64)
    assert.equal(end === 'refused', isVersion, `byte ${place}: ${end}`)
  }
})

test('pages of rubbish are lived with, or found', async (t) => {
  const { file, bytes } = await written(t)
  for (let page = 0; page < bytes.length / 4_096; page++) {
    const damaged = Buffer.from(bytes).fill(page % 2 ? 0 : 0xee, page * 4_096, (page + 1) * 4_096)
    renew(file, damaged)
    const end = use(file)
    assert.notEqual(end, 'refused', `page ${page}`)
    if (end === 'aside') isKept(file, damaged)
  }
})

test('a log of rubbish is as good as none', async (t) => {
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

test('of a log that was cut off what is whole is used', async (t) => {
  const place = scratch(t)
  const other = await place.process('ledger')
  for (let batch = 0; batch < 5; batch++) {
    await other.ask('record')
    await other.ask('flush')
  }
  await other.kill()
  const log = readFileSync(`${place.file}-wal`)
  const main = readFileSync(place.file)
  for (let part = 0; part <= 20; part++) {
    renew(place.file, main)
    writeFileSync(`${place.file}-wal`, log.subarray(0, Math.floor((log.length * part) / 20)))
    assert.equal(use(place.file), 'fine', `${part} twentieths`)
  }
})

test('start-up moves a damaged ledger aside, says so in one line, and works', async (t) => {
  const { file, bytes, open, troubles } = await written(t)
  const cut = bytes.subarray(0, 20_000)
  writeFileSync(file, cut)
  writeFileSync(`${file}-wal`, 'the log of it')
  const ledger = await open()
  assert.deepEqual(await ledger.warm({ workload: 'julia' }), [])
  ledger.record(sampleRow(1))
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 1, dropped: 0, skipped: 0 })
  isKept(file, cut, 0)
  const [aside] = asides(file)
  assert.equal(readFileSync(join(dirname(file), `${aside}-wal`), 'utf8'), 'the log of it')
  assert.equal(troubles.length, 1)
  const { message } = troubles[0]!
  assert.ok(message.startsWith(`ledger ${file}: it is damaged (`), message)
  assert.ok(message.includes(`${aside}, and a new one is begun`), message)
  assert.ok(!message.includes('\n'))
})

test('a ledger.db that never was a database is moved aside, never deleted, and each time anew', async (t) => {
  const { file, open } = scratch(t)
  mkdirSync(dirname(file))
  const texts = ['my diary\n'.repeat(1_000), 'my other diary\n'.repeat(1_000)]
  for (const text of texts) {
    writeFileSync(file, text)
    await (await open()).close()
  }
  const kept = asides(file).map((name) => readFileSync(join(dirname(file), name), 'utf8'))
  assert.deepEqual(kept.sort(), texts.sort())
})

test('damage that is met while the ledger is in use loses nothing that is recorded from then on', async (t) => {
  const { file, bytes, open, troubles } = await written(t)
  const db = new DatabaseSync(file)
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'jobsByCode'").get()!
  db.close()
  const start = (Number(rootpage) - 1) * 4_096
  const damaged = Buffer.from(bytes).fill(0xee, start, start + 4_096)
  writeFileSync(file, damaged)
  // It opens: nobody has looked at that page yet.
  const ledger = await open({ ...hasty, tidyAfterMs: 60_000 })
  assert.equal(troubles.length, 0)
  for (let number = 0; number < 10; number++) ledger.record(sampleRow(number))
  ledger.saveSnapshot(sampleSnapshot())
  await ledger.flush()
  assert.deepEqual(await ledger.counts(), { rows: 10, dropped: 0, skipped: 0 })
  assert.equal((await ledger.warm({ workload: 'julia' })).length, 10)
  assert.equal(troubles.length, 1)
  assert.match(String(troubles[0]), /it is damaged .* a new one is begun/)
  assert.equal(asides(file).length, 1)
})

test('a question that meets damage is answered by the new ledger', async (t) => {
  const { file, bytes, open } = await written(t)
  writeFileSync(file, Buffer.from(bytes).fill(0xee, 4_096))
  const ledger = await open(hasty)
  assert.deepEqual(await ledger.warm({ workload: 'julia' }), [])
  assert.deepEqual(await ledger.snapshots('julia'), [])
  assert.equal(asides(file).length, 1)
})

test('another process that holds the ledger is not disturbed', async (t) => {
  const { process, file } = scratch(t)
  const other = await process('ledger')
  await other.ask('record')
  await other.ask('flush')
  const copy = join(dirname(file), 'copy.db')
  copyFileSync(file, copy)
  writeFileSync(file, 'rubbish')
  await assert.rejects(openSqliteLedger({ file, limits: hasty }), /another running Plimsoll holds it/)
  assert.deepEqual(asides(file), [])
  assert.ok(existsSync(file) && basename(file) === 'ledger.db')
})
