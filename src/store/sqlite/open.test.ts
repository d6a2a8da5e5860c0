import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openSqliteJobs } from '../sqlite.ts'
import {
  answerOf,
  bytesOf,
  epochOf,
  idsOf,
  keepAll,
  newJob,
  openLed,
  range,
  rejectsWith,
} from '../testing/samples.ts'

const large = Buffer.alloc(100_000, 'large')

function scratch(t: TestContext) {
  const folder = join(mkdtempSync(join(tmpdir(), 'plimsoll-jobs-')), 'jobs')
  t.after(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  const open = () => openSqliteJobs({ folder, busyMs: 20 })
  const contents = join(folder, 'contents')
  return { folder, open, file: join(folder, 'jobs.db'), contents, names: () => readdirSync(contents).sort() }
}

async function fill(open: () => ReturnType<typeof openSqliteJobs>, jobs: number): Promise<void> {
  const store = await open()
  const epoch = await epochOf(store)
  await Promise.all(range(jobs).map((number) => store.accept(epoch, newJob(number))))
  await store.accept(epoch, newJob(jobs, { body: large }))
  await store.close()
}

test('only the owner can read the files, and small contents need none', async (t) => {
  const { folder, open, contents, names } = scratch(t)
  const { store, epoch } = await openLed(t, { open, location: folder })
  await store.accept(epoch, newJob(1))
  assert.deepEqual(names(), [])
  await store.accept(epoch, newJob(2, { body: large }))
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  for (const path of [folder, contents]) assert.equal(mode(path), '700', path)
  const files = [...readdirSync(folder).filter((name) => name !== 'contents'), join('contents', names()[0]!)]
  for (const name of files) assert.equal(mode(join(folder, name)), '600', name)
})

test('large contents of jobs that are not accepted, or are removed, leave no files', async (t) => {
  const { folder, open, names } = scratch(t)
  const { store, epoch } = await openLed(t, { open, location: folder })
  const idempotency = { key: 'key', fingerprint: 'same' }
  await store.accept(epoch, newJob(1, { body: large, idempotency }))
  const [first] = names()
  await store.accept(epoch, newJob(2, { body: large, idempotency }))
  await assert.rejects(store.accept(epoch - 1, newJob(3, { body: large })))
  assert.equal(await store.answer(epoch, 'job-4', answerOf(4, { body: large })), false)
  assert.deepEqual(names(), [first])
  await store.answer(epoch, 'job-1', answerOf(1, { body: large, endedAt: 1 }))
  assert.equal(names().length, 2)
  await store.sweep(epoch, 10, { ...keepAll, keepMs: 1 })
  assert.deepEqual(names(), [])
})

test('files that no job names are removed when the store is opened', async (t) => {
  const { open, contents, names } = scratch(t)
  await fill(open, 1)
  const kept = names()
  writeFileSync(join(contents, 'f'.repeat(32)), 'of a process that was killed before its job was accepted')
  const store = await open()
  t.after(() => store.close())
  assert.deepEqual(names(), kept)
  assert.ok((await bytesOf(await store.body('job-1'))).equals(large))
})

test('a content whose file is missing or cut off is an error that names the file', async (t) => {
  const { folder, open, contents, names } = scratch(t)
  const { store, epoch } = await openLed(t, { open, location: folder })
  await store.accept(epoch, newJob(1, { body: large }))
  const [name] = names() as [string]
  truncateSync(join(contents, name), 5)
  await rejectsWith(
    store.body('job-1'),
    'STORE',
    new RegExp(`${name} is damaged: it has 5 bytes, not 100000`),
  )
  rmSync(join(contents, name))
  await rejectsWith(store.body('job-1'), 'STORE', new RegExp(`${name} is missing`))
})

test('a second process cannot open the folder, until the first one ends', async (t) => {
  const { open } = scratch(t)
  const first = await open()
  await epochOf(first)
  await rejectsWith(open(), 'STORE', /another running Plimsoll uses this folder/)
  await first.close()
  const second = await open()
  t.after(() => second.close())
  assert.ok(await second.lead('another holder', 1_000), 'the lease of the first one has ended with it')
})

const damages: Record<string, (file: string) => void> = {
  'is no database': (file) => writeFileSync(file, 'x'.repeat(20_000)),
  'is too short': (file) => truncateSync(file, 100),
  'ends early': (file) => truncateSync(file, 8_192),
  'has garbage in a page': (file) => {
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xa5, 4_096 * 2, 4_096 * 5))
  },
}

for (const [damage, inflict] of Object.entries(damages)) {
  test(`a file that ${damage} is neither used nor changed`, async (t) => {
    const { open, file, names } = scratch(t)
    await fill(open, 200)
    inflict(file)
    const damaged = readFileSync(file)
    await rejectsWith(open(), 'STORE', /jobs\.db is damaged\. It holds accepted jobs.*Restore a backup/)
    assert.ok(readFileSync(file).equals(damaged))
    assert.equal(names().length, 1)
  })
}

test('a missing file beside contents is an error, and the contents stay', async (t) => {
  const { open, file, names } = scratch(t)
  await fill(open, 1)
  rmSync(file)
  await rejectsWith(open(), 'STORE', /jobs\.db is missing or empty, but .* has 1 files of accepted jobs/)
  await rejectsWith(open(), 'STORE', /jobs\.db is missing or empty/)
  assert.equal(names().length, 1)
})

test('files of other applications and of newer versions are not used', async (t) => {
  const { open, file } = scratch(t)
  await (await open()).close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA user_version = 99')
  await rejectsWith(open(), 'STORE', /schema version 99; this Plimsoll supports versions up to 3/)
  db.exec('PRAGMA user_version = 0')
  db.close()
  await rejectsWith(open(), 'STORE', /another application's database/)
})

test('a file of version 2 is brought up to date: its rows count towards the space of ended jobs', async (t) => {
  const { open, file } = scratch(t)
  const before = await open()
  const epoch = await epochOf(before)
  for (const number of [1, 2]) {
    await before.accept(epoch, newJob(number))
    await before.cancel(epoch, `job-${number}`, number)
  }
  await before.close()
  const db = new DatabaseSync(file)
  db.exec(`DROP INDEX jobs_ended; ALTER TABLE jobs DROP COLUMN row_bytes;
    CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL; PRAGMA user_version = 2`)
  db.close()
  const after = await open()
  t.after(() => after.close())
  await after.sweep(await epochOf(after), 10, { ...keepAll, rememberBytes: 1_000 })
  assert.deepEqual(await idsOf((await after.list({ limit: 9 })).jobs), ['job-2'])
})

test('writes fail when the file was removed meanwhile', async (t) => {
  const { folder, open, file } = scratch(t)
  const { store, epoch } = await openLed(t, { open, location: folder })
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`)
  await rejectsWith(store.accept(epoch, newJob(1)), 'STORE', /removed or replaced while it was in use/)
})

test('a folder that cannot be created is an error that names it', async (t) => {
  const { folder, open } = scratch(t)
  appendFileSync(folder, 'a file')
  await rejectsWith(open(), 'STORE', new RegExp(`job store ${folder}: its folder cannot be created`))
})

test('a full disk rejects writes, keeps what was accepted, and is used again when it has space', async (t) => {
  const { folder } = scratch(t)
  const entry = new URL('../testing/full-disk-process.ts', import.meta.url).pathname
  const script = 'mkdir -p "$0" && mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"'
  const unshare = ['-r', '-m', '--propagation', 'private', 'sh', '-c', script, folder]
  const child = spawn('unshare', [...unshare, process.execPath, entry, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const failed = once(child, 'error')
  const [code] = await Promise.race([once(child, 'close'), failed.then(() => [1])])
  if (!output.includes('mounted')) return t.skip(`no tmpfs can be mounted here: ${output}`)
  assert.equal(code, 0, output)
  assert.ok(!existsSync(join(folder, 'jobs.db')))
})
