import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterState } from '../live/cluster.ts'
import { statusText } from './status.ts'

const calm = { step: 0, pressure: 0, held: 0, shed: 0, refusedConnections: 0, refusedRequests: 0 } as const
const money = { workers: 0, functions: 0, functionRequests: 0, workerHours: 0 }

function state(over: Partial<ClusterState>): ClusterState {
  const none = { errors: 0, refused: 0, unknown: 0, cancelled: 0, retries: 0, dropped: 0 }
  const counters = { ...none, accepted: 3, results: 2 }
  // Only the fields that the text uses.
  return {
    ...{ uptimeMs: 61_000, now: 61_000, policy: 'srpt', ready: 1, placed: 1, workers: [], waiting: [] },
    ...{ booting: [], launchTroubles: [], steps: [], fronts: [], functions: [], away: [], scaling: {} },
    estimates: {},
    ...{ counters, money, overload: calm },
    ...over,
  } as unknown as ClusterState
}

const worker = {
  ...{
    id: 'w1',
    state: 'ready',
    suspect: false,
    pid: 7,
    address: '10.0.0.1:4000',
    cores: 1,
    slots: 17,
    cpu: 0.314,
  },
  ...{ jobs: [{ job: 'j', attempt: 1, running: true, done: 1e36, remaining: 2e36 }], outstanding: 2e36 },
  ...{ figures: { lowCpuFor: 0, SUPER_HEAVY: 97, onHold: false }, usedMemoryMb: 64, memoryMb: 1928 },
}

test('formats the figures of policies', () => {
  const text = statusText(
    state({
      workers: [worker] as unknown as ClusterState['workers'],
      scaling: { looksAbove: 97, emaPercent: 54.36, batch: null },
    }),
  )
  const [, , , head, , row] = text.split('\n')
  const cells = (line: string) => line.trim().split(/ {2,}/)
  assert.deepEqual(cells(head!).slice(5), [
    'work left',
    'memory of jobs',
    'cpu',
    'low cpu for',
    'SUPER_HEAVY',
    'on hold',
    'address',
  ])
  assert.deepEqual(cells(row!).slice(5), [
    '2.00e36',
    '64 of 1928 MB',
    '31 %',
    '0',
    '97',
    'no',
    '10.0.0.1:4000',
  ])
  assert.match(text, /^scaling {3}looks above 97 · ema percent 54.4 · batch –$/m)
})

test('jobs that share cores do not make more cores busy than there are', () => {
  const jobs = ['a', 'b', 'c'].map((job) => ({ ...worker.jobs[0], job }))
  const text = statusText(state({ workers: [{ ...worker, jobs }] as unknown as ClusterState['workers'] }))
  assert.match(text, / 1 of 1 +3 of 17 /)
})

test('accounts for every accepted job', () => {
  const counters = {
    accepted: 35,
    results: 25,
    errors: 2,
    refused: 0,
    unknown: 1,
    cancelled: 1,
    dropped: 0,
    retries: 3,
  }
  const jobs = [worker.jobs[0], { ...worker.jobs[0], job: 'k', running: false }]
  const text = statusText(
    state({
      ...{ counters: { ...counters, superseded: 0 }, waiting: ['a', 'b', 'c'], placed: 2 },
      workers: [{ ...worker, jobs }] as unknown as ClusterState['workers'],
      away: [{ job: 'l', attempt: 1, function: 'f' }],
    }),
  )
  assert.equal(
    text.split('\n')[1],
    '35 jobs accepted: 25 answered, 2 failed, 1 of unknown outcome, 1 cancelled, ' +
      '6 in progress (1 running, 1 paused, 3 queued, 1 in functions); 3 retried',
  )
})

test('shows how far estimates were off, by workload', () => {
  const worst = { job: 'j7', factor: 43.48, estimated: 52e6, measured: 2261e6 }
  const text = statusText(state({ estimates: { hillclimb: { requests: 9, medianFactor: 1.042, worst } } }))
  const words =
    'hillclimb: off by 1.04 × in the median of the last 9 requests, at worst by 43.5 × ' +
    '(52 million for 2.26 billion of job j7)'
  assert.ok(text.replace(/\s+/g, ' ').includes(`estimates ${words}`), text)
})

test('says when no worker is ready', () => {
  assert.match(statusText(state({ ready: 0, placed: 0 })), /\nNo workers\.\n/)
})

test('shows overloaded processes, and what an overload has cost', () => {
  assert.doesNotMatch(statusText(state({})), /overload/)
  const why = 'memory is at 83 % of its limit'
  const overload = { ...calm, step: 1 as const, doing: 'reads no large bodies of new requests', why, held: 1 }
  const front = { id: 'f1', pid: 1, state: 'ready' as const, inHand: 0, accepted: 0 }
  const past = { ...calm, shed: 3, refusedConnections: 1, refusedRequests: 2 }
  const text = statusText(state({ overload, fronts: [{ ...front, overload: past }] })).replace(/\s+/g, ' ')
  assert.match(
    text,
    /overload main process: step 1 of 3, reads no large bodies of new requests: memory is at 83 % of its limit; 1 body waiting/,
  )
  assert.match(
    text,
    /overload front f1: over; 3 requests shed; 1 connection refused; 2 requests over a client's limit/,
  )
})

test('says why ready workers get no jobs', () => {
  const slow = { code: 'slow', times: 9.8, ms: 30_000, ejections: 1 }
  const silent = { code: 'kept-silent', silentMs: 3000, silent: 2, of: 3, percent: 50 }
  const workers = [
    { ...worker, notice: slow },
    { ...worker, id: 'w2', suspect: true, notice: silent },
  ]
  const text = statusText(state({ workers: workers as unknown as ClusterState['workers'] })).replaceAll(
    /\s+/g,
    ' ',
  )
  assert.match(text, / w1 ready, ejected .* w2 ready, silent /)
  assert.match(text, /trouble worker w1: its jobs take 9\.8 times as long as those of other workers/)
  assert.match(
    text,
    /trouble worker w2: it has sent no heartbeat for 3 s, but 2 of 3 workers are silent at once/,
  )
})
