import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { OpenJob } from '../../front/open-job.ts'
import type { Event } from '../../model/event.ts'
import type { WorkerView } from '../../model/view.ts'
import type { DirectOrder, DirectRow } from '../../wire/direct.ts'
import { Delegation, type DelegationParts } from './delegation.ts'

const worker = (id: string, more: Partial<WorkerView> = {}) =>
  ({ id, state: 'ready', suspect: false, slots: 8, jobs: [], ...more }) as unknown as WorkerView
const programs = (port: number, concurrency = 8) => ({
  addresses: [{ host: '127.0.0.1', port }],
  concurrency,
})
const local = { host: '127.0.0.1', port: 1 }

function delegating(t: TestContext, parts: Partial<DelegationParts> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const orders: DirectOrder[] = []
  const told: Event[] = []
  const rows: DirectRow[] = []
  const fleet = { workers: [worker('w1'), worker('w2')], problems: new Map<string, string>(), jobs: 1 }
  const delegation = new Delegation({
    ...{ belowMs: 10, fronts: 1, hasServer: true, problems: fleet.problems },
    workers: () => fleet.workers,
    addressOf: () => local,
    mayDelegate: () => true,
    openJobs: () => fleet.jobs,
    joined: () => [],
    broadcast: (message) => message.type === 'direct' && orders.push(message),
    tell: (event) => void told.push(event),
    learn: (row) => void rows.push(row),
    ...parts,
  })
  t.after(() => delegation.close())
  const ended = (count: number, cpuMs = 1, job: object = {}, more: object = {}) => {
    const parts = { job: { workload: 'r', ...job }, hasBody: false }
    const open = { parts, cost: { measure: 'time', cpuMs }, outcome: 'result', ...more }
    for (let i = 0; i < count; i++) delegation.ended(open as unknown as OpenJob)
  }
  delegation.programs('w1', programs(1))
  delegation.programs('w2', programs(2))
  const tick = () => t.mock.timers.tick(20)
  const last = () => orders.at(-1)?.workers.map(({ id }) => id)
  return { delegation, fleet, orders, told, rows, ended, tick, last }
}

test('a name that has become small is delegated to the workers with programs', (t) => {
  const { delegation, orders, ended, tick } = delegating(t)
  ended(63)
  tick()
  assert.deepEqual(orders, [])
  ended(1)
  tick()
  assert.deepEqual(delegation.order, {
    seq: 1,
    names: ['r'],
    workers: [
      { id: 'w1', programs: programs(1) },
      { id: 'w2', programs: programs(2) },
    ],
  })
  assert.deepEqual(delegation.totals(), { answered: 0, givenBack: 0, names: ['r'] })
})

test('an order is sent only if it differs from the last', (t) => {
  const { delegation, orders, ended, tick } = delegating(t)
  ended(64)
  tick()
  delegation.programs('w1', programs(1))
  delegation.observe({ type: 'disconnected', worker: 'w1' }, [])
  tick()
  assert.equal(orders.length, 1)
  delegation.programs('w1', programs(3))
  tick()
  delegation.programs('w1', undefined)
  tick()
  assert.equal(orders.length, 3)
  delegation.renew()
  tick()
  assert.deepEqual(orders[3], { type: 'direct', seq: 4, names: [], workers: [] })
})

test('workers that drain, are suspect or ejected, or have a problem are left out', (t) => {
  const { delegation, fleet, ended, tick, last } = delegating(t)
  ended(64)
  tick()
  const changes: Partial<WorkerView>[] = [
    ...[{ state: 'draining' as const }, { suspect: true }, { slots: 0 }],
    { notice: { code: 'ejected' } },
  ]
  for (const change of changes) {
    fleet.workers = [worker('w1', change), worker('w2')]
    delegation.observe({ type: 'tick' }, [{ type: 'eject' }] as never)
    tick()
    assert.deepEqual(last(), ['w2'])
    fleet.workers = [worker('w1'), worker('w2')]
    delegation.observe({ type: 'tick' }, [{ type: 'readmit' }] as never)
    tick()
    assert.deepEqual(last(), ['w1', 'w2'])
  }
  fleet.problems.set('w2', 'no program is healthy')
  delegation.observe({ type: 'disconnected', worker: 'w2' }, [])
  tick()
  assert.deepEqual(last(), ['w1'])
})

test('a worker that falls silent is noticed within a second', (t) => {
  const { delegation, fleet, ended, tick, last } = delegating(t)
  ended(64)
  tick()
  fleet.workers = [worker('w1'), worker('w2', { suspect: true })]
  delegation.observe({ type: 'tick' }, [])
  t.mock.timers.tick(1_000)
  assert.deepEqual(last(), ['w1'])
  // A change that is seen does not wait for it.
  delegation.observe({ type: 'tick' }, [])
  fleet.workers = [worker('w2', { suspect: true })]
  delegation.observe({ type: 'drain', worker: 'w1' }, [{ type: 'drain' }] as never)
  tick()
  assert.deepEqual(last(), [])
})

test('nothing is sent after the end', (t) => {
  const { delegation, orders, ended, tick } = delegating(t)
  ended(64)
  delegation.close()
  delegation.observe({ type: 'disconnected', worker: 'w1' }, [])
  tick()
  assert.deepEqual(orders, [])
})

test('programs of other machines are left out', (t) => {
  const addressOf = (id: string) => (id === 'w1' ? { ...local, tls: true as const } : local)
  const { ended, tick, last } = delegating(t, { addressOf })
  ended(64)
  tick()
  assert.deepEqual(last(), ['w2'])
})

test('the places of a program are divided among fronts', (t) => {
  for (const [fronts, places] of [
    [2, 4],
    [3, 2],
    [9, 1],
  ]) {
    const { delegation, ended, tick } = delegating(t, { fronts: fronts! })
    ended(64)
    tick()
    assert.equal(delegation.order.workers[0]?.programs?.concurrency, places)
    t.mock.timers.reset()
  }
})

test('fronts get the places of programs that jobs of the brain leave', (t) => {
  const { delegation, fleet, orders, ended, tick } = delegating(t)
  ended(64)
  tick()
  const running = (count: number) => Array.from({ length: count }, () => ({ running: true }))
  const places = () => delegation.order.workers.map(({ programs }) => programs?.concurrency)
  const [w1, w2] = [
    programs(1),
    { addresses: [...programs(2).addresses, ...programs(3).addresses], concurrency: 8 },
  ]
  delegation.programs('w1', w1)
  delegation.programs('w2', w2)
  for (const [jobs, left] of [
    [3, [5, 6]],
    [9, [0, 3]],
    [0, [8, 8]],
  ] as const) {
    const paused = { running: false }
    const views = ['w1', 'w2'].map((id) => worker(id, { jobs: [...running(jobs), paused] as never }))
    fleet.workers = views
    const before = orders.length
    delegation.observe({ type: 'tick' }, [{ type: jobs > 0 ? 'run' : 'answer' }] as never)
    t.mock.timers.tick(50)
    assert.deepEqual([places(), orders.length], [left, before + 1])
  }
})

test('requests that need the brain do not count', (t) => {
  const { orders, ended, tick, delegation } = delegating(t, { mayDelegate: (name) => name === 'r' })
  ended(100, 1, { workload: 'limited' })
  ended(100, 1, {}, { outcome: 'error' })
  ended(100, 1, {}, { cost: undefined })
  ended(100, 1, {}, { cost: { measure: 'header', cpuMs: 1 } })
  tick()
  assert.deepEqual([orders, delegation.totals().names], [[], []])
})

test('requests with a body or that must not be repeated count for routes, and not for workloads', (t) => {
  for (const hasServer of [true, false]) {
    const { delegation, ended } = delegating(t, { hasServer })
    const measure = hasServer ? 'time' : 'meter'
    const cost = { measure, cpuMs: 1 }
    for (const [workload, job, hasBody] of [
      ['once', { safeToRepeat: false }, false],
      ['with-body', {}, true],
      ['usual', {}, false],
    ] as const)
      ended(64, 1, {}, { cost, parts: { job: { workload, ...job }, hasBody } })
    t.mock.timers.tick(20)
    assert.deepEqual(delegation.totals().names, hasServer ? ['once', 'with-body', 'usual'] : ['usual'])
    t.mock.timers.reset()
  }
})

test('requests that share a program share its time; a backlog does not make them small', (t) => {
  const { fleet, orders, ended, tick } = delegating(t)
  // 1,000 jobs at 2 programs with 8 places each.
  fleet.jobs = 1_000
  ended(100, 5 * 81)
  tick()
  assert.deepEqual(orders, [])
  // One at each program.
  fleet.jobs = 2
  ended(100, 5 * 11)
  tick()
  assert.deepEqual(orders, [])
  fleet.jobs = 8
  ended(64, 5 * 39)
  tick()
  assert.equal(orders.length, 1)
})

test('reports are counted, told to the brain and learned; slow requests end the delegation', (t) => {
  const { delegation, told, rows, orders, ended, tick } = delegating(t)
  ended(64)
  tick()
  const count = { name: 'r', worker: 'w1', answered: 3, givenBack: 1, work: 300, totalMs: 3, longestMs: 2 }
  delegation.report({ counts: [count, { ...count, answered: 0 }], rows: [{ job: 'j' } as DirectRow] })
  assert.deepEqual(told.slice(2), [{ type: 'delegated', jobs: 3, work: 300 }])
  assert.deepEqual([rows.length, delegation.totals().answered, delegation.totals().givenBack], [1, 3, 2])
  delegation.report({ counts: [{ ...count, longestMs: 501 }], rows: [] })
  tick()
  assert.deepEqual([orders.at(-1)?.names, delegation.totals().names], [[], []])
})

test('a worker is held from the order that names it until the fronts have left it', (t) => {
  const { delegation, fleet, told, ended, tick } = delegating(t, { joined: () => ['f'] })
  ended(64)
  tick()
  assert.deepEqual(told, [
    { type: 'held', worker: 'w1', held: true },
    { type: 'held', worker: 'w2', held: true },
  ])
  delegation.standing('f', { seq: 1, workers: [] })
  fleet.workers = [worker('w1', { state: 'draining' }), worker('w2')]
  delegation.observe({ type: 'drain', worker: 'w1' }, [{ type: 'drain' }] as never)
  tick()
  delegation.standing('f', { seq: 2, workers: ['w1'] })
  assert.equal(told.length, 2)
  delegation.standing('f', { seq: 2, workers: [] })
  assert.deepEqual(told.slice(2), [{ type: 'held', worker: 'w1', held: false }])
})

test('workloads hold no workers: what a worker does not answer is given back', (t) => {
  const { delegation, told, ended, tick } = delegating(t, { hasServer: false, joined: () => ['f'] })
  ended(64, 1, {}, { cost: { measure: 'meter', cpuMs: 1 } })
  tick()
  assert.equal(delegation.order.workers.length, 2)
  assert.deepEqual(told, [])
})
