/** Clients arrive, disconnect and are answered in all orders: each is answered once, and jobs without clients end. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Account } from '../../wire/whole-answer.ts'
import { World } from './testing/shared-answers-world.ts'

// The same cases in every run, so that a failure is reproducible.
fc.configureGlobal({ seed: 1 })

const which = fc.nat({ max: 30 })
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      key: fc.constantFrom('x', 'x', 'y'),
      deadlineMs: fc.constantFrom(undefined, undefined, 50, 100, 300),
      client: fc.constantFrom('a', 'b'),
      fresh: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('hangUp', 'attempt', 'finish', 'error', 'limit', 'begin', 'breakOff', 'poison'),
      which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 60, 700) }) },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function take(world: World, now: Step, tick: (ms: number) => void): void {
  if (now.do === 'arrive' && 'key' in now) return void world.arrive(now.key, now)
  if ('ms' in now) {
    for (let ms = 0; ms < now.ms; ms += 10) {
      tick(10)
      world.checkDeadlines()
    }
    return
  }
  if (!('which' in now)) return
  const pick = <T>(list: readonly T[]) => list[now.which % (list.length || 1)]
  if (now.do === 'hangUp') return pick(world.waiting)?.hangUp()
  const running = pick(world.live)
  if (!running) return
  if (now.do === 'attempt') running.receiver.attempted()
  else if (now.do === 'finish') world.finish(running)
  else if (now.do === 'begin') world.begin(running)
  else if (now.do === 'breakOff') world.breakOff(running)
  else if (now.do === 'limit') world.refuse(running, now.which % 2 === 0 ? 'rate-limit' : 'overloaded')
  else world.refuse(running, now.do === 'error' ? 'workload-error' : 'poison')
}

function check(world: World): void {
  if (world.waiting.length === 0) assert.deepEqual(world.live, [], 'what nobody waits for is cancelled')
  for (const { job, given, streaming } of world.listeners) {
    const [{ how, account } = { how: '', account: {} as Account }] = given
    const isOwn = account['plimsoll-job'] === job.id
    if (how === 'deadline')
      assert.ok(job.deadlineAt! <= Date.now(), 'nobody is refused before its own deadline')
    if ((how === 'rate-limit' || how === 'overloaded') && !isOwn && !streaming) {
      assert.equal(
        world.jobs.find((other) => other.job.id === account['plimsoll-job'])?.job.client,
        job.client,
      )
    }
    if (how) assert.equal(account['plimsoll-cache'], isOwn || how === 'broken' ? undefined : 'shared')
  }
  for (const { live, overs } of world.computations) {
    if (overs > 0) assert.ok(live.every(({ done }) => done))
    assert.ok(overs <= 1)
  }
}

function clock(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  return (ms) => t.mock.timers.tick(ms)
}

test('in any order of arrivals, disconnects and refusals each client is answered once, and jobs without clients end', (t) => {
  const tick = clock(t)
  const seen = new Set<string>()
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World()
      for (const now of steps) {
        take(world, now, tick)
        check(world)
        if ('ms' in now) {
          for (const { job } of world.waiting) assert.ok((job.deadlineAt ?? Infinity) > Date.now())
        }
      }
      for (let next = world.live[0]; next; next = world.live[0]) world.finish(next)
      check(world)
      assert.deepEqual(world.waiting, [])
      for (const { overs } of world.computations) assert.equal(overs, 1)
      for (const { given } of world.listeners) for (const { how } of given) seen.add(how)
      // No ended job can be joined.
      world.arrive('x')
      assert.equal(world.live.length, 1)
      world.finish(world.live[0]!)
    }),
    { numRuns: 500 },
  )
  const all = [
    'broken',
    'deadline',
    'overloaded',
    'poison',
    'rate-limit',
    'stream',
    'whole',
    'workload-error',
  ]
  assert.deepEqual([...seen].sort(), all)
})

test('the job continues when its first client disconnects, and is cancelled when the last one does', (t) => {
  clock(t)
  const world = new World()
  const [first, second] = [world.arrive('x'), world.arrive('x')]
  assert.equal(world.jobs.length, 1)
  first.hangUp()
  assert.equal(world.live.length, 1)
  second.hangUp()
  assert.equal(world.jobs[0]!.cancelled, true)
})

test('clients with later deadlines than the refused job are moved to another job', (t) => {
  const tick = clock(t)
  const world = new World()
  const hasty = world.arrive('x', { deadlineMs: 50 })
  const [patient, calm] = [world.arrive('x', { deadlineMs: 200 }), world.arrive('x')]
  assert.equal(world.jobs.length, 1)
  tick(50)
  world.checkDeadlines()
  assert.equal(hasty.given[0]!.how, 'deadline')
  assert.equal(world.live[0]!.job, calm.job)
  tick(150)
  assert.equal(patient.given[0]!.how, 'deadline')
  world.finish(world.live[0]!)
  assert.equal(calm.given[0]!.how, 'whole')
})

test('a request with an earlier deadline joins a running job, but not a queued one', (t) => {
  const tick = clock(t)
  const world = new World()
  world.arrive('x')
  const hasty = world.arrive('x', { deadlineMs: 50 })
  assert.equal(world.jobs.length, 2)
  world.live[1]!.receiver.attempted()
  const hastier = world.arrive('x', { deadlineMs: 20 })
  assert.equal(world.jobs.length, 2)
  tick(20)
  assert.equal(hastier.given[0]!.how, 'deadline')
  assert.ok(hasty.waits)
  world.finish(world.live[1]!)
  assert.equal(hasty.given[0]!.how, 'whole')
  world.listeners[0]!.hangUp()
})

test('a large answer goes to one client, and the others get jobs of their own', (t) => {
  clock(t)
  const world = new World()
  for (let i = 0; i < 3; i++) world.arrive('x')
  world.begin(world.live[0]!)
  assert.equal(world.jobs.length, 3)
  world.arrive('x')
  assert.equal(world.jobs.length, 4)
  for (const running of world.live) world.finish(running)
  assert.deepEqual(
    world.listeners.map(({ given }) => given[0]!.how),
    ['stream', 'whole', 'whole', 'whole'],
  )
})

test('a large answer that would break off at the deadline of a disconnected client goes to nobody', (t) => {
  clock(t)
  const world = new World()
  const hasty = world.arrive('x', { deadlineMs: 50 })
  const others = [world.arrive('x', { deadlineMs: 200 }), world.arrive('x')]
  hasty.hangUp()
  world.begin(world.live[0]!)
  assert.equal(world.jobs[0]!.cancelled, true)
  assert.deepEqual(
    world.live.map(({ job }) => job),
    others.map(({ job }) => job),
  )
  for (const running of world.live) world.finish(running)
  assert.equal(world.computations[0]!.overs, 1)
})

test('a large answer that has begun breaks off, and is not computed again', (t) => {
  clock(t)
  const world = new World()
  const [first, second] = [world.arrive('x'), world.arrive('x', { client: 'b' })]
  first.hangUp()
  world.begin(world.live[0]!)
  world.refuse(world.live[0]!, 'rate-limit')
  assert.equal(second.given[0]!.how, 'rate-limit')
  assert.equal(world.jobs.length, 1)
})

test('a request for a new answer starts a job that later requests join, even after the older job ends', (t) => {
  clock(t)
  const world = new World()
  world.arrive('x')
  world.arrive('x', { fresh: true })
  assert.equal(world.jobs.length, 2)
  world.finish(world.live[0]!)
  world.arrive('x')
  assert.equal(world.jobs.length, 2)
  world.finish(world.live[0]!)
  assert.deepEqual(world.waiting, [])
})

test('a job that began too long ago is not joined', (t) => {
  const tick = clock(t)
  const world = new World()
  world.arrive('x')
  tick(1_000)
  world.arrive('x')
  assert.equal(world.jobs.length, 2)
  for (const running of world.live) world.finish(running)
  assert.equal(world.kept, 2)
})
