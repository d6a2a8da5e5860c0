/** Workers and slots that are stopped by SIGSTOP: each preset finds them by its own rule, and no request is lost. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuMs } from '../../src/worker/processes/proc.ts'
import { type Live, until } from '../support/live.ts'
import { livePreset, type PresetLive, tellSteps } from '../support/preset-live.ts'
import { descendants } from '../support/processes.ts'

const timeout = 240_000

interface Answered {
  status: number
  worker: string | null
  attempts: number
}

async function ask(live: Live, path: string): Promise<Answered> {
  const answer = await fetch(`${live.url}${path}`)
  const text = await answer.text()
  assert.equal(answer.status, 200, text.slice(0, 300))
  const attempts = Number(answer.headers.get('plimsoll-attempts'))
  return { status: answer.status, worker: answer.headers.get('plimsoll-worker'), attempts }
}

interface Stopped extends PresetLive {
  preset: string
  /** The i-th of the requests that follow. */
  path(i: number): string
  requests: number
  /** The reason for which the worker is lost. */
  code: string
  /** Until the worker has reported, and answered pings, and is not new any more. */
  settleMs?: number
}

/** Stops a whole worker, with its slots, and sends requests, of which it gets some. All must be answered elsewhere. */
async function stopWorker(
  t: TestContext,
  { preset, path, requests, code, settleMs = 0, ...options }: Stopped,
) {
  const live = await livePreset(t, preset, options)
  const all = () => live.state().workers.filter(({ role }) => role !== 'front')
  await until(() => all().length >= 2 && live.state().booting.length === 0, 'two workers are ready')
  // The estimates know this kind of request.
  await ask(live, path(0))
  await delay(settleMs)
  const [victim] = all()
  const { id, pid } = victim!
  for (const process_ of [pid!, ...descendants(pid!).map((child) => child.pid)])
    process.kill(process_, 'SIGSTOP')
  const stoppedAt = performance.now()
  const loss = () => live.state().steps.find(({ change, names }) => change === 'lost' && names.includes(id))
  const lost = until(() => loss(), `${id} is lost`).then(() => performance.now() - stoppedAt)
  const answers = await Promise.all(Array.from({ length: requests }, (_, i) => ask(live, path(i + 1))))
  const lostMs = await lost
  assert.equal(loss()!.reason.code, code)
  const moved = answers.filter(({ attempts }) => attempts > 1)
  assert.ok(moved.length > 0, 'the stopped worker got no request')
  assert.ok(answers.every(({ worker }) => worker !== id))
  t.diagnostic(
    `${preset}: lost ${(lostMs / 1000).toFixed(1)} s after it was stopped: ${loss()!.text}; ` +
      `${answers.length} requests answered, ${moved.length} of them at a later attempt`,
  )
  tellSteps(t, live)
}

test(
  'CP-13 live: a stopped worker leaves three pings unanswered, and its requests are answered elsewhere',
  {
    timeout,
  },
  (t) =>
    stopWorker(t, {
      ...{ preset: 'cloudprime', timeScale: 10, min: 2, max: 4, requests: 6, code: 'pings', settleMs: 4000 },
      path: () => '/factorize?n=999985999949',
    }),
)

test(
  'CN-12 live: a stopped worker fails three health checks, and its requests are answered elsewhere',
  {
    timeout,
  },
  (t) =>
    stopWorker(t, {
      ...{ preset: 'cnv', timeScale: 10, workScale: 10, min: 2, max: 3, requests: 4, code: 'pings' },
      settleMs: 4000,
      path: (i) => `/julia?width=64&height=64&iterations=${100 + i}`,
    }),
)

test(
  'EW-9 live: a late answer leads to a heartbeat, which a stopped worker does not answer',
  { timeout },
  (t) =>
    stopWorker(t, {
      ...{ preset: 'ecowork', min: 2, max: 3, requests: 4, code: 'heartbeat', timeScale: 20 },
      path: (i) => `/foxes-rabbits?world=1&scenario=1&generations=${40 + i}`,
    }),
)

test('HC-10 live: a stopped worker is silent, and its requests are answered elsewhere', { timeout }, (t) =>
  stopWorker(t, {
    ...{ preset: 'hillclimbing', min: 2, max: 3, workScale: 0.01, requests: 4, code: 'silent' },
    settleMs: 4000,
    path: (i) => `/hillclimb?width=64&height=64&strategy=BFS&xS=${i}`,
  }),
)

test('tiered live: a stopped middle is silent, and its requests are answered elsewhere', { timeout }, (t) =>
  stopWorker(t, {
    ...{ preset: 'tiered', min: 1, max: 7, requests: 8, code: 'silent' },
    path: (i) => `/shop?action=browse&page=${i + 1}`,
  }),
)

/** Stops the slots of the worker that runs the request, but not the worker. */
/** The slot that has used most CPU time, once that is clear: others have only started. They stay free for the next attempt. */
function busySlot(worker: number): number | undefined {
  const slots = descendants(worker).filter(({ command }) => command.includes('slot-start'))
  const [first, second] = slots
    .map(({ pid }) => ({ pid, ms: cpuMs(pid) ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms)
  return first && first.ms - (second?.ms ?? 0) > 150 ? first.pid : undefined
}

async function stopSlots(t: TestContext, preset: string, path: string, options: PresetLive) {
  const live = await livePreset(t, preset, options)
  await until(() => live.state().ready === 2, 'two workers are ready')
  const answered = ask(live, path)
  const holder = () => live.state().workers.find(({ jobs }) => jobs.some(({ running }) => running))
  await until(holder, 'a worker runs it')
  const { id, pid } = holder()!
  await until(() => busySlot(pid!), 'its slot computes')
  process.kill(busySlot(pid!)!, 'SIGSTOP')
  const { worker, attempts } = await answered
  assert.ok(
    live.state().workers.some((each) => each.id === id),
    'its worker is alive',
  )
  t.diagnostic(`${preset}: the slot of ${id} was stopped; answered by ${worker} at attempt ${attempts}`)
  return { holder: id, worker, attempts }
}

const limit = (answers: object): PresetLive => ({
  ...{ min: 2, max: 2 },
  more: { limits: { answers: { factor: 0, leastMs: 8000, ...answers } } },
})

test('CP-16 live: a request that times out is scheduled again', { timeout }, async (t) => {
  const { attempts } = await stopSlots(t, 'cloudprime', '/factorize?n=12000000670000009', limit({}))
  assert.ok(attempts >= 2)
})

test('CN-9 live: a request that times out goes to another worker', { timeout }, async (t) => {
  const path = '/julia?width=1000&height=1000&iterations=2000'
  const { holder, worker, attempts } = await stopSlots(t, 'cnv', path, limit({ excludes: true }))
  assert.ok(attempts >= 2)
  assert.notEqual(worker, holder)
})

test('EW-8 live: a worker that answers the heartbeat gets the request again', { timeout }, async (t) => {
  const path = '/foxes-rabbits?world=2&scenario=1&generations=800'
  const { holder, worker, attempts } = await stopSlots(t, 'ecowork', path, limit({ heartbeatMs: 3000 }))
  assert.ok(attempts >= 2)
  assert.equal(worker, holder)
})
