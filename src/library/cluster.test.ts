import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { createClient } from './client/client.ts'
import { createCluster } from './cluster.ts'
import type { CreateClusterOptions } from './cluster-types.ts'
import { fewestJobs, halfTheJobs, meanCost } from './testing/policies.ts'

const workloads = import.meta.resolve('./fixtures/sums.ts')
const one = { workloads, min: 1, max: 1 } as const

/** Processes that this one started and that still run. */
function children(): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid,ppid,stat,args'], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => {
    const [, parent, state] = line.trim().split(/\s+/)
    return parent === String(process.pid) && !state!.startsWith('Z') && !line.includes('ps -eo')
  })
}

// Other tests run at the same time and have temporary folders too.
const temporary = mkdtempSync(join(tmpdir(), 'plimsoll-library-'))
process.env.TMPDIR = temporary
after(() => rmSync(temporary, { recursive: true }))
const folders = () => readdirSync(temporary)

test('a cluster serves, and leaves neither processes nor ports nor folders behind', async () => {
  const before = { folders: folders(), signals: process.listenerCount('SIGTERM') }
  const lines: string[] = []
  const cluster = await createCluster({
    ...one,
    workloads: [new URL(workloads)],
    log: (line) => lines.push(line),
  })
  assert.match(cluster.url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.deepEqual(cluster.workloads, ['sum', 'bytes', 'words', 'nothing', 'sleeps'])
  assert.deepEqual(await (await fetch(`${cluster.url}/sum?n=10`)).json(), {
    sum: 45,
    at: new Date(0).toJSON(),
  })
  assert.equal((await fetch(`${cluster.adminUrl}/api/state`)).status, 200)
  const { policy, ready, counters } = cluster.state()
  assert.deepEqual([policy, ready, counters.results], ['srpt', 1, 1])
  assert.equal(process.listenerCount('SIGTERM'), before.signals)
  assert.ok(children().length > 0)
  await Promise.all([cluster.close(), cluster.close()])
  assert.deepEqual(children(), [])
  assert.deepEqual(folders(), before.folders)
  await assert.rejects(fetch(cluster.url))
})

test('own policies decide in a live cluster, and the reasons reach people', async () => {
  await using cluster = await createCluster({
    ...{ workloads, min: 1, max: 2, scheduler: fewestJobs, scaler: halfTheJobs, estimator: meanCost },
  })
  await using client = createClient(cluster)
  const { job } = await client.request('sum', { n: 1000 })
  assert.equal(cluster.state().policy, 'fewest-jobs')
  assert.equal(cluster.state().discipline, 'sharing')
  const why = await (
    await fetch(`${cluster.adminUrl}/api/jobs/${job}/why`, { headers: { accept: 'text/plain' } })
  ).text()
  assert.match(why, /it has 0 jobs/)
  const quote = await client.estimate('sum', { n: 1 })
  assert.equal(quote.why, 'the mean of 1 jobs')
  assert.ok(quote.work > 1000, 'the estimator has learned')
})

test('a live policy that fails is logged once, and requests are served', async () => {
  const lines: string[] = []
  await using cluster = await createCluster({
    ...one,
    scheduler: () => ({
      name: 'broken',
      place() {
        throw new Error('no idea')
      },
    }),
    log: (line) => lines.push(line),
  })
  for (let i = 0; i < 3; i++) assert.equal((await fetch(`${cluster.url}/sum?n=${i}`)).status, 200)
  assert.deepEqual(
    lines.filter((line) => line.includes('broken')),
    ['scheduler broken: place: no idea; a default decision takes its place'],
  )
})

test('an existing server is served by options alone', async () => {
  const program = "require('node:http').createServer((q, s) => s.end(q.url)).listen(process.argv[1])"
  await using cluster = await createCluster({
    workers: { command: [process.execPath, '-e', program, '{port}'] },
    routes: [{ name: 'all', path: '/**', features: ({ query }) => ({ size: Number(query.size) }) }],
    ...{ min: 1, max: 1 },
  })
  assert.equal(await (await fetch(`${cluster.url}/a?size=3`)).text(), '/a?size=3')
  assert.deepEqual(cluster.workloads, ['all'])
})

test('a start that fails names the option and leaves nothing behind', async () => {
  const before = folders()
  await using server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const refused: [CreateClusterOptions, RegExp][] = [
    [
      { frobnicate: 1 } as CreateClusterOptions,
      /^createCluster: the options: unknown option frobnicate; options are (?=.*\bestimator\b)(?=.*\bsignal\b)(?=.*\broutes\b)/,
    ],
    [{ port: -1 }, /^createCluster: options: port = -1: must be a whole number from 0 to 65535$/],
    [{ min: 3, max: 2 }, /^createCluster: max = 2: must be at least min \(3\)$/],
    [{ cacheAge: 3 }, /^createCluster: cacheAge = 3: requires cache$/],
    [{ workloads: 'no/such' }, /^createCluster: workloads = .*no\/such: no such file or folder$/],
    [{ workloads: [] }, /^createCluster: workloads = \[\]: must be one path or more$/],
    [{ workloads: new URL('https://a/b') }, /must be a path or a file: URL, without commas$/],
    [{ ...one, port }, new RegExp(`^createCluster: port = ${port}: is in use; choose another$`)],
    [{ scheduler: 'odd' as 'srpt' }, /^createCluster: scheduler = odd: must be one of round-robin, /],
    [{ scale: 'hpa', scaler: halfTheJobs }, /^createCluster: scale = hpa: cannot be combined with scaler$/],
    [{ log: 3 as never }, /^createCluster: log = 3: must be a function$/],
    [{ readyWithinMs: 0 }, /^createCluster: readyWithinMs = 0: must be a number above 0/],
  ]
  for (const [options, message] of refused)
    await assert.rejects(createCluster(options), { code: 'CONFIG', message })
  await assert.rejects(createCluster({ scaler: () => ({ name: 'x', everyMs: 1 }) as never }), {
    code: 'POLICY',
  })
  assert.deepEqual(folders(), before)
  assert.deepEqual(children(), [])
})

test('a cluster that does not become ready, or is aborted, is closed', async () => {
  const before = folders()
  await assert.rejects(createCluster({ ...one, readyWithinMs: 1 }), {
    code: 'START',
    message: /^createCluster: no worker became ready within 0\.001 s/,
  })
  await assert.rejects(createCluster({ ...one, signal: AbortSignal.timeout(1) }), {
    code: 'START',
    message: 'createCluster: the start was aborted',
  })
  await assert.rejects(createCluster({ signal: AbortSignal.abort() }), { code: 'START' })
  assert.deepEqual(folders(), before)
  assert.deepEqual(children(), [])
})

test('a data folder of the caller is kept', async (t) => {
  const data = mkdtempSync(`${tmpdir()}/kept-`)
  t.after(() => rmSync(data, { recursive: true }))
  await (await createCluster({ ...one, min: 0, data })).close()
  assert.ok(existsSync(`${data}/ledger.db`))
})
