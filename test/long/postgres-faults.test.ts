/** What only a database server can do to the store: crashes, races of leaders, wrong settings, wrong URLs. */

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import pg from 'pg'
import { openJobStore } from '../../src/store/open-store.ts'
import type { JobStore } from '../../src/store/store.ts'
import {
  answerOf,
  bytesOf,
  epochOf,
  idsOf,
  keepAll,
  newJob,
  range,
  rejectsWith,
} from '../../src/store/testing/samples.ts'
import { until } from '../support/live.ts'
import { password, startPostgres } from '../support/postgres.ts'

// Commits that do not wait for the disk stay in memory, so that a crash loses them.
const server = await startPostgres('wal_writer_delay=10s', 'synchronous_commit=off')
after(() => server?.stop())
const options = { skip: !server, timeout: 120_000 }

async function opened(t: TestContext, url?: string): Promise<{ url: string; store: JobStore }> {
  const database = url ?? (await server!.createDatabase())
  const store = await openJobStore(database)
  t.after(() => store.close())
  return { url: database, store }
}

/** A connection that the test holds a transaction on. */
async function connection(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end().catch(() => {}))
  return client
}

test('a write that waited for a new leader is fenced off', options, async (t) => {
  const { url, store } = await opened(t)
  const epoch = await epochOf(store)
  const next = await connection(t, url)
  await next.query('BEGIN; LOCK TABLE plimsoll.leader IN EXCLUSIVE MODE')
  let isOver = false
  const write = store.accept(epoch, newJob(1)).finally(() => {
    isOver = true
  })
  write.catch(() => {})
  const waits = "SELECT 1 FROM pg_locks WHERE relation = 'plimsoll.leader'::regclass AND NOT granted"
  while ((await server!.query(waits, url)).length === 0) assert.equal(isOver, false)
  await next.query('UPDATE plimsoll.leader SET epoch = epoch + 1; COMMIT')
  await rejectsWith(write, 'STORE_FENCED', /a newer leader has begun/)
  assert.deepEqual(await idsOf(store.open()), [])
})

test('what a new leader reads is final, however busy the old one is', options, async (t) => {
  const { url, store: old } = await opened(t)
  const { store: next } = await opened(t, url)
  let number = 0
  for (const _round of range(8)) {
    const epoch = await epochOf(old, 'same')
    let isFenced = false
    const written: string[] = []
    const callers = range(24).map(async () => {
      while (!isFenced) {
        const job = newJob(number++)
        await old.accept(epoch, job).then(
          () => written.push(job.id),
          (error: { code: string }) => {
            assert.equal(error.code, 'STORE_FENCED')
            isFenced = true
          },
        )
      }
    })
    await until(() => written.length > 100, 'the old leader writes')
    await epochOf(next, 'same')
    const seen = await idsOf(next.open())
    await Promise.all(callers)
    assert.deepEqual(await idsOf(next.open()), seen)
    assert.deepEqual(
      written.filter((id) => !seen.includes(id)),
      [],
    )
  }
})

test('a leader whose connection hangs in a write does not keep others out', options, async (t) => {
  const { url, store } = await opened(t)
  assert.ok(await store.lead('old', 0))
  const stuck = await connection(t, url)
  await stuck.query('BEGIN; SELECT FROM plimsoll.leader WHERE epoch = 1 FOR SHARE')
  const began = performance.now()
  assert.equal((await store.lead('new', 1_000))?.epoch, 2)
  assert.ok(performance.now() - began < 10_000)
  await assert.rejects(stuck.query('COMMIT'))
})

test('accepted jobs survive a crash, also where commits do not wait for the disk', options, async (t) => {
  const { url, store } = await opened(t)
  const epoch = await epochOf(store)
  const large = Buffer.alloc(3_000_000, 'large')
  await store.accept(epoch, newJob(1, { body: large }))
  await store.accept(epoch, newJob(2))
  await store.answer(epoch, 'job-2', answerOf(2))
  // The same server loses what is committed as it is set to.
  await server!.query('CREATE TABLE lost (n int)', url)
  await server!.crash()
  await server!.start()
  assert.deepEqual(await server!.query("SELECT to_regclass('lost') AS lost", url), [{ lost: null }])
  assert.ok((await bytesOf(await store.body('job-1'))).equals(large))
  assert.equal((await store.job('job-2'))?.state, 'answered')
  await store.accept(epoch, newJob(3))
  assert.deepEqual(await idsOf(store.open()), ['job-1', 'job-3'])
})

test('a crash during writes: each is durable, was not written, or is unknown', options, async (t) => {
  const { store } = await opened(t)
  const epoch = await epochOf(store)
  const outcomes = new Map<string, string>()
  let crashed = false
  let number = 0
  const callers = range(32).map(async () => {
    while (!crashed) {
      const job = newJob(number++)
      const outcome = store.accept(epoch, job).then(
        () => 'accepted',
        (error: { code: string; name: string }) => {
          assert.equal(error.name, 'StoreError')
          return error.code
        },
      )
      outcomes.set(job.id, await outcome)
    }
  })
  await until(() => outcomes.size > 300, 'jobs are accepted')
  await server!.crash()
  crashed = true
  await Promise.all(callers)
  await rejectsWith(store.accept(epoch, newJob(-1)), 'STORE', /cannot be reached/)
  await rejectsWith(store.job('job-0'), 'STORE', /cannot be reached/)
  await server!.start()
  const unknown = [...outcomes].filter(([, outcome]) => outcome === 'STORE_UNKNOWN')
  assert.ok(unknown.length > 0, 'some were in progress')
  const there = new Set(await idsOf(store.open()))
  for (const [id, outcome] of outcomes)
    if (outcome !== 'STORE_UNKNOWN') assert.equal(there.has(id), outcome === 'accepted', `${id} ${outcome}`)
  for (const [id] of unknown)
    assert.deepEqual(await store.accept(epoch, newJob(Number(id.slice(4)))), { kind: 'accepted' })
  assert.equal(
    (await idsOf(store.open())).length,
    [...outcomes.values()].filter((one) => one !== 'STORE').length,
  )
})

test('a connection that ends during a write leaves its outcome unknown', options, async (t) => {
  const { url, store } = await opened(t)
  const epoch = await epochOf(store)
  const other = await connection(t, url)
  await other.query('BEGIN; LOCK TABLE plimsoll.jobs IN ACCESS EXCLUSIVE MODE')
  const write = store.accept(epoch, newJob(1))
  write.catch(() => {})
  const end = `SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE relation = 'plimsoll.jobs'::regclass AND NOT granted`
  while ((await server!.query(end, url)).length === 0);
  await rejectsWith(write, 'STORE_UNKNOWN', /job store postgres:.*terminating connection/)
  await other.query('COMMIT')
  assert.deepEqual(await store.accept(epoch, newJob(1)), { kind: 'accepted' })
})

test('a job that the server rejects does not fail the others', options, async (t) => {
  const { store } = await opened(t)
  const epoch = await epochOf(store)
  const bad = store.accept(epoch, newJob(1, { workload: 'a\u0000b' }))
  const others = range(5, 2).map((number) => store.accept(epoch, newJob(number)))
  await rejectsWith(bad, 'STORE', /the server rejects the statement/)
  for (const outcome of await Promise.all(others)) assert.equal(outcome.kind, 'accepted')
})

test('chunks of a job that was never accepted go with the next leader', options, async (t) => {
  const { url, store } = await opened(t)
  const epoch = await epochOf(store)
  await store.accept(epoch, newJob(1, { body: Buffer.alloc(200_000) }))
  await server!.query(`INSERT INTO plimsoll.chunks VALUES (1000, 0, ${epoch}, 'x')`, url)
  const contents = async () =>
    (await server!.query<{ content: string }>('SELECT content FROM plimsoll.chunks', url)).length
  await store.sweep(epoch, 0, keepAll)
  assert.equal(await contents(), 2)
  await store.sweep(await epochOf(store), 0, keepAll)
  assert.equal(await contents(), 1)
  assert.equal((await bytesOf(await store.body('job-1'))).length, 200_000)
})

test('clusters that start at once make the tables once', options, async (t) => {
  const url = await server!.createDatabase()
  const stores = await Promise.all(range(5).map(() => openJobStore(url)))
  t.after(() => Promise.all(stores.map((store) => store.close())))
  assert.equal((await stores[0]!.lead('a', 60_000))?.epoch, 1)
  assert.equal(await stores[4]!.lead('b', 60_000), undefined)
})

test('tables of other applications and of newer versions are not used', options, async () => {
  const newer = await server!.createDatabase()
  await (await openJobStore(newer)).close()
  await server!.query('UPDATE plimsoll.version SET version = 99', newer)
  await rejectsWith(openJobStore(newer), 'STORE', /version 99; this Plimsoll supports versions up to 3/)
  const other = await server!.createDatabase()
  await server!.query('CREATE SCHEMA plimsoll CREATE TABLE theirs (n int)', other)
  await rejectsWith(openJobStore(other), 'STORE', /belongs to another application/)
})

test('errors name the remedy and not the password', options, async () => {
  const url = await server!.createDatabase()
  const cases: [url: string, problem: RegExp][] = [
    [url.replace(password, `x${password}`), /Check the user and the password/],
    [url.replace(/jobs\d+$/, 'missing'), /the database does not exist\. Create it/],
    [url.replace(/:\d+\//, ':1/'), /cannot be reached/],
    [url.replace(/@.*/, '@no-such-host.invalid/db'), /cannot be reached/],
    [url.replace(/@.*/, '@:1:2/db'), /the URL of the database is invalid/],
  ]
  for (const [wrong, problem] of cases) {
    await assert.rejects(openJobStore(wrong), (error: Error) => {
      assert.match(error.message, problem)
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, new RegExp(password))
      return true
    })
  }
})
