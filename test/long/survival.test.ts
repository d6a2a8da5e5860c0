/** No accepted job is lost while workers and slots are killed, memory is exhausted, or the cluster is stopped. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import type { ClusterState } from '../../src/live/cluster.ts'
import { replay } from '../../src/simulate/replay.ts'
import { isAlive, slotsOf, until, workersOf } from '../support/processes.ts'

const main = fileURLToPath(new URL('../../src/cli/plimsoll.js', import.meta.url))
const workloads = fileURLToPath(new URL('../../workloads', import.meta.url))
const eaters = fileURLToPath(new URL('../fixtures/eaters.ts', import.meta.url))

interface Up {
  process: ChildProcess
  pid: number
  client: Pool
  dataDir: string
  /** Workers that have joined, or that have reported as well, as the brain counts them. */
  ready(): Promise<number>
  settled(): Promise<number>
  get(
    path: string,
    method?: 'GET' | 'POST',
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Record<string, unknown> }>
}

/** `plimsoll up` in a child process, on free ports. */
async function up(t: TestContext, ...args: string[]): Promise<Up> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-test-'))
  const child = spawn(
    process.execPath,
    [main, 'up', '--port', '0', '--admin-port', '0', '--data', dataDir, ...args],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let client: Pool | undefined
  t.after(async () => {
    await client?.destroy()
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await until('all slots have ended', () => slotsOf(child.pid!).length === 0, 10_000)
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await until('the cluster is ready', () => output.includes('Try:'), 20_000)
  const [url, adminUrl] = output.match(/http:\/\/127\.0\.0\.1:\d+/g)!
  const state = async () => (await (await fetch(`${adminUrl}/api/state`)).json()) as ClusterState
  const pool = new Pool(url!, { headersTimeout: 0, bodyTimeout: 0 })
  client = pool
  return {
    process: child,
    pid: child.pid!,
    client: pool,
    dataDir,
    ready: async () => (await state()).ready,
    settled: async () => (await state()).workers.filter(({ fresh }) => !fresh).length,
    async get(path, method = 'GET') {
      const { statusCode, body, headers } = await pool.request({ method, path })
      return { status: statusCode, body: (await body.json()) as Record<string, unknown>, headers }
    },
  }
}

/** Factors of semiprimes that take from a few milliseconds to a few hundred. */
const primes = [1_000_003, 2_000_003, 5_000_011, 10_000_019, 30_000_001, 90_000_049]

const count = 200

function question(i: number): { path: string; factors: string[] } {
  const [a, b] = [primes[i % primes.length]!, primes[(i * 5 + 1) % primes.length]!].sort((x, y) => x - y) as [
    number,
    number,
  ]
  return { path: `/factorize?n=${BigInt(a) * BigInt(b)}`, factors: [`${a}`, `${b}`] }
}

/** Killing workers faster than they boot would only increase the launch backoff. */
function bothReady(cluster: Up): Promise<void> {
  return until('two workers are ready', async () => (await cluster.ready()) === 2, 30_000)
}

/** Sends many requests at once while `harm` is called repeatedly. Returns the total number of attempts. */
async function many(cluster: Up, harm: () => void): Promise<number> {
  let open = true
  const harming = (async () => {
    for (let i = 0; i < 6 && open; i++) {
      await bothReady(cluster)
      if (open) harm()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { path, factors } = question(i)
      const { status, body, headers } = await cluster.get(path)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(body.factors, factors)
      return Number(headers['plimsoll-attempts'])
    }),
  )
  open = false
  await harming
  return answers.reduce((sum, attempts) => sum + attempts, 0)
}

test('many requests are answered correctly while workers are killed one after another', {
  timeout: 90_000,
}, async (t) => {
  const log = join(mkdtempSync(join(tmpdir(), 'plimsoll-test-')), 'events.ndjson')
  const cluster = await up(t, '--min', '2', '--workloads', workloads, '--event-log', log)
  let killed = 0
  const attempts = await many(cluster, () => {
    const victim = workersOf(cluster.pid)[0]
    if (victim) {
      killed++
      process.kill(victim.pid, 'SIGKILL')
    }
  })
  assert.ok(killed > 0 && attempts > count, `${killed} killed, ${attempts} attempts`)
  t.diagnostic(`${killed} workers killed, ${attempts} attempts at ${count} requests`)

  cluster.process.kill('SIGTERM')
  const [code] = await once(cluster.process, 'exit')
  assert.equal(code, 0)
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  const { events, difference } = await replay(lines)
  assert.equal(difference, undefined)
  t.diagnostic(`${events} events of the live cluster replayed to the same actions`)
  rmSync(join(log, '..'), { recursive: true })
})

test('many requests are answered correctly while slots are killed', { timeout: 90_000 }, async (t) => {
  const cluster = await up(t, '--min', '2', '--workloads', workloads)
  let killed = 0
  await many(cluster, () => {
    const victim = slotsOf(cluster.pid).find(({ state }) => state === 'R')
    if (victim) {
      killed++
      process.kill(victim.pid, 'SIGKILL')
    }
  })
  assert.ok(killed > 0)
})

test('no purchase runs twice while workers are killed', { timeout: 90_000 }, async (t) => {
  const cluster = await up(t, '--min', '2', '--workloads', workloads)
  await cluster.get('/shop?action=browse')
  let buying = true
  const killing = (async () => {
    while (buying) {
      await bothReady(cluster)
      const victim = workersOf(cluster.pid)[0]
      if (victim && buying) process.kill(victim.pid, 'SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  const jobs: { job: string; status: number }[] = []
  const buy = async (customer: number) => {
    for (let i = 0; i < 40; i++) {
      const path = `/shop?action=purchase&productId=${1 + ((customer * 40 + i) % 500)}&quantity=1&customer=c${customer}`
      const { status, headers, body } = await cluster.get(path, 'POST')
      assert.ok([200, 409, 502].includes(status), `${status} ${JSON.stringify(body)}`)
      jobs.push({ job: String(headers['plimsoll-job']), status })
    }
  }
  await Promise.all([1, 2, 3, 4].map(buy))
  buying = false
  await killing
  const shop = new DatabaseSync(join(cluster.dataDir, 'shop.db'), { readOnly: true })
  const orders = shop.prepare('select job, count(*) as times from orders group by job').all()
  shop.close()
  const times = new Map(orders.map((row) => [String(row.job), Number(row.times)]))
  assert.ok(jobs.filter(({ status }) => status === 200).length > 20)
  for (const { job, status } of jobs) {
    const done = times.get(job) ?? 0
    assert.ok(done <= 1, `job ${job} ordered ${done} times`)
    if (status === 200) assert.equal(done, 1)
  }
})

test('a worker that stops reporting is declared lost, and its jobs run elsewhere', {
  timeout: 90_000,
}, async (t) => {
  const cluster = await up(t, '--min', '2', '--workloads', eaters)
  // A worker that has just joined has a longer timeout.
  await until('both have reported', async () => (await cluster.settled()) === 2, 10_000)
  const answers = [0, 1].map((i) => cluster.get(`/work?ms=1500&value=${i}`))
  await until('both run', () => slotsOf(cluster.pid).filter(({ state }) => state === 'R').length >= 2, 10_000)
  const [silent] = workersOf(cluster.pid)
  process.kill(silent!.pid, 'SIGSTOP')
  const all = await Promise.all(answers)
  assert.deepEqual(
    all.map(({ status, body }) => [status, body.value]),
    [
      [200, '0'],
      [200, '1'],
    ],
  )
  assert.equal(all.map(({ headers }) => headers['plimsoll-attempts']).includes('2'), true)
  await until('it has been killed', () => !isAlive(silent!.pid), 5_000)
})

test('after SIGKILL of the main process no worker or slot is left, not even paused ones', {
  timeout: 90_000,
}, async (t) => {
  const cluster = await up(t, '--min', '2', '--workloads', eaters)
  const hogs = Array.from({ length: 6 }, () => cluster.get('/work?ms=60000&value=1').catch(() => {}))
  await until(
    'long jobs run',
    () => slotsOf(cluster.pid).filter(({ state }) => state === 'R').length >= 2,
    10_000,
  )
  // The jobs have the same workload and so the same estimate, so all but two are queued until shorter ones are known.
  const pids = [...workersOf(cluster.pid), ...slotsOf(cluster.pid)].map(({ pid }) => pid)
  const stopped = slotsOf(cluster.pid).find(({ state }) => state === 'R')!
  process.kill(stopped.pid, 'SIGSTOP')
  assert.ok(pids.length >= 4)
  cluster.process.kill('SIGKILL')
  await until('all have ended', () => !pids.some(isAlive), 5_000)
  await Promise.all(hogs)
})

test('after SIGTERM running requests are answered and the exit code is 0', { timeout: 90_000 }, async (t) => {
  const cluster = await up(t, '--min', '1', '--workloads', eaters)
  const running = Array.from({ length: 3 }, (_, i) => cluster.get(`/work?ms=300&value=${i}`))
  await until('they run', () => slotsOf(cluster.pid).some(({ state }) => state === 'R'), 10_000)
  cluster.process.kill('SIGTERM')
  for (const [i, answer] of (await Promise.all(running)).entries()) {
    assert.equal(answer.status, 200)
    assert.equal(answer.body.value, `${i}`)
  }
  const [code] = await once(cluster.process, 'exit')
  assert.equal(code, 0)
})

test('jobs that exhaust memory get clear errors; all others are answered, and the worker survives', {
  timeout: 90_000,
}, async (t) => {
  const cluster = await up(t, '--min', '1', '--workloads', eaters, '--job-memory', '192')
  const [worker] = workersOf(cluster.pid)
  for (const how of ['heap', 'arrays', 'string', 'json']) {
    const others = Array.from({ length: 10 }, (_, i) => cluster.get(`/work?ms=40&value=${i}`))
    const eater = await cluster.get(`/eat?how=${how}`)
    assert.equal(eater.status, 500, how)
    assert.match(String(eater.body.detail), /memory|192 MB|heap/i)
    assert.equal(eater.headers['plimsoll-attempts'], '1')
    for (const [i, { status, body }] of (await Promise.all(others)).entries()) {
      assert.equal(status, 200)
      assert.equal(body.value, `${i}`)
    }
    assert.equal(workersOf(cluster.pid)[0]?.pid, worker!.pid)
  }
})
