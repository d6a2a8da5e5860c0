/** Functions of a live cluster: processes that run jobs that would queue. Their failures lose no job. */

import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import type { ClusterOptions, FunctionsOptions } from '../../src/live/cluster.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import {
  cli,
  commandOf,
  descendants,
  type Live,
  open,
  problemOf,
  startLive,
  stopLive,
  until,
  untilIdle,
  useLive,
} from '../support/live.ts'

/** Estimates what the request states. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms?: string }).ms ?? 1000) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

const usual: Partial<ClusterOptions> = {
  estimator: told,
  scheduler: 'least-connections',
  discipline: 'fifo',
  slots: 1,
  pricePerHour: 0.1,
}
const functions: FunctionsOptions = {
  most: 2,
  command: [process.execPath, cli, 'function'],
  waitingPerHour: 1000,
  patienceMs: 500,
}
const shared = useLive({ ...usual, functions })
const others: Live[] = []
after(() =>
  until(() => descendants().length === 0, `all processes have ended: ${descendants().map(commandOf)}`),
)
afterEach(async () => {
  for (const live of others.splice(0)) await stopLive(live)
})

/** Occupies the only slot of the only worker with a job that ends when its gate opens. `other`: uses a new cluster with these functions. */
async function busy(other?: Partial<FunctionsOptions>): Promise<{ live: Live; first: Promise<Response> }> {
  const live = other ? await startLive({ ...usual, functions: { ...functions, ...other } }) : shared
  if (other) others.push(live)
  rmSync(join(live.dataDir, 'first'), { force: true })
  const first = fetch(`${live.url}/gated?gate=first&ms=600000`)
  await until(() => live.state().placed === 1, 'the worker is busy')
  return { live, first }
}

async function assertEnds(live: Live, first: Promise<Response>): Promise<void> {
  open(live, 'first')
  assert.equal(await (await first).text(), 'opened')
  await untilIdle(live)
  assert.equal(live.state().away.length, 0)
}

test('a job that would queue is answered by a function, metered and recorded; the next finds the function warm', async () => {
  const { live, first } = await busy()
  const answer = await fetch(`${live.url}/strict?n=21`)
  assert.equal(await answer.text(), '42')
  assert.equal(answer.headers.get('plimsoll-worker'), 'function:local')
  assert.ok(Number(answer.headers.get('plimsoll-work')) > 0)
  const [{ pid } = { pid: undefined }] = live.state().functions
  assert.ok(pid)
  assert.equal(await (await fetch(`${live.url}/strict?n=4`)).text(), '8')
  assert.deepEqual(live.state().functions, [{ pid, busy: false }])
  const { functionRequests, functions, workers, spent } = live.state().money
  assert.equal(functionRequests, 2)
  assert.ok(functions > 0 && workers > 0 && Math.abs(functions + workers - spent) < 1e-12)
  await live.ledger.flush()
  const [row] = await live.ledger.recent({ workload: 'strict', limit: 1 })
  assert.equal(row?.worker, 'function:local')
  assert.ok(row.work > 0 && row.cpuMs > 0 && row.peakMemoryMb > 0)
  await assertEnds(live, first)
  const why = await fetch(`${live.adminUrl}/api/jobs/${answer.headers.get('plimsoll-job')}/why`)
  assert.match(await why.text(), /Sent to function:local: the fleet would start it in/)
})

test('a body reaches a function and is echoed', async () => {
  const { live, first } = await busy()
  const body = Buffer.alloc(700_000, 'plimsoll')
  const answer = await fetch(`${live.url}/mirror`, { method: 'POST', body })
  assert.equal(answer.headers.get('plimsoll-worker'), 'function:local')
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), body)
  await assertEnds(live, first)
})

test('when a function is killed during a job, the fleet runs the job', async () => {
  const { live, first } = await busy()
  const second = fetch(`${live.url}/gated?gate=second`)
  await until(() => live.state().functions.some((each) => each.busy), 'it is in a function')
  const { pid } = live.state().functions.find((each) => each.busy)!
  // A slot process exists, so the job has begun.
  await until(() => descendants(pid).length > 1, 'the function runs the job')
  process.kill(pid!, 'SIGKILL')
  await until(() => live.state().waiting.length === 1, 'it is retried')
  open(live, 'second')
  await assertEnds(live, first)
  const answer = await second
  assert.equal(await answer.text(), 'opened')
  assert.equal(answer.headers.get('plimsoll-attempts'), '2')
  assert.notEqual(answer.headers.get('plimsoll-worker'), 'function:local')
})

test('a function that hangs is killed after its timeout, and the fleet runs the job', async () => {
  const { live, first } = await busy()
  // From here on a function is warm.
  assert.equal(await (await fetch(`${live.url}/strict?n=1`)).text(), '2')
  const { pid } = live.state().functions.find((each) => !each.busy)!
  process.kill(pid!, 'SIGSTOP')
  const second = fetch(`${live.url}/echo?ms=1`)
  await until(() => live.state().waiting.length === 1, 'it is retried')
  await until(() => !live.state().functions.some((each) => each.pid === pid), 'the function has ended')
  await assertEnds(live, first)
  const answer = await second
  assert.deepEqual(await answer.json(), { params: { ms: '1' }, attempt: 2 })
})

test('after a 429, functions are tried again later, and the job is answered', async () => {
  const { live, first } = await busy({ concurrency: 1 })
  const away = fetch(`${live.url}/gated?gate=away`)
  const atWork = () => live.state().functions.some(({ pid }) => pid && descendants(pid).length > 1)
  await until(atWork, 'the first is in a function')
  const turned = fetch(`${live.url}/strict?n=5`)
  await until(() => live.state().counters.retries > 0, 'one is throttled')
  open(live, 'away')
  assert.equal(await (await away).text(), 'opened')
  const answer = await turned
  assert.equal(await answer.text(), '10')
  assert.ok(Number(answer.headers.get('plimsoll-attempts')) > 1)
  await assertEnds(live, first)
})

test('a job that exceeds the time limit of functions is run by the fleet', async () => {
  const { live, first } = await busy({ timeoutMs: 3000 })
  const second = fetch(`${live.url}/gated?gate=second&ms=100`)
  await until(() => live.state().away.length === 1, 'it is in a function')
  await until(() => live.state().waiting.length === 1, 'it is retried')
  assert.equal(live.state().functions.filter((each) => each.busy).length <= 1, true)
  open(live, 'second')
  await assertEnds(live, first)
  assert.equal(await (await second).text(), 'opened')
})

test('crashes and errors of jobs in functions are reported as those on workers', async () => {
  const { live, first } = await busy()
  const crashed = fetch(`${live.url}/quit`)
  const failed = await problemOf(fetch(`${live.url}/fail?status=418`), 418)
  assert.equal(failed.code, 'workload-error')
  await until(() => live.state().waiting.length === 1, 'the crashed job is retried')
  await assertEnds(live, first)
  assert.equal((await crashed).status >= 500, true)
})

test('when a client hangs up, its function is killed', async () => {
  const { live, first } = await busy()
  const client = new AbortController()
  const gone = fetch(`${live.url}/endless?mark=begun`, { signal: client.signal })
  await until(() => existsSync(join(live.dataDir, 'begun')), 'it has begun')
  client.abort()
  await assert.rejects(gone)
  await until(() => !live.state().functions.some((each) => each.busy), 'the function has ended')
  await assertEnds(live, first)
})

test('a kept job that runs in a function says so, and its cancel ends the function', async () => {
  const { live, first } = await busy()
  const handedIn = await fetch(`${live.url}/endless?mark=kept`, {
    method: 'POST',
    headers: { prefer: 'respond-async' },
  })
  assert.equal(handedIn.status, 202)
  const path = `${live.url}${handedIn.headers.get('location')}`
  await until(() => existsSync(join(live.dataDir, 'kept')), 'it has begun')
  interface Kept {
    state: string
    worker?: string
    attempts?: number
    why?: string[]
    facts?: { was: string; saved: number }
  }
  const jobOf = async (method: string) => (await (await fetch(path, { method })).json()) as Kept
  let job = await jobOf('GET')
  while (job.state !== 'running') job = await jobOf('GET')
  assert.deepEqual([job.worker, job.attempts], ['function:local', 1])
  assert.match(job.why!.join('\n'), /Sent to function:local/)
  const { state, facts } = await jobOf('DELETE')
  assert.deepEqual([state, facts?.was], ['cancelled', 'running'])
  assert.ok(facts!.saved > 0)
  await until(() => !live.state().functions.some((each) => each.busy), 'the function has ended')
  await assertEnds(live, first)
})

test('functions that cannot start lose no job', async () => {
  const { live, first } = await busy({ command: [process.execPath, cli, 'function', '--no-such-option'] })
  const second = fetch(`${live.url}/strict?n=6`)
  await until(() => live.state().counters.retries > 0, 'it is retried')
  await assertEnds(live, first)
  assert.equal(await (await second).text(), '12')
  assert.ok(live.lines.some((line) => line.startsWith('function 1: ')))
})
