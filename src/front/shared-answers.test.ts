/** Clients who arrive, hang up and are answered in all orders: each is answered once, and jobs end when nobody waits. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import type { Job } from '../model.ts'
import { refusal } from './problem.ts'
import type { Account, Receiver, Sink, WholeAnswer } from './recipient.ts'
import { SharedAnswers } from './shared-answers.ts'

// The same cases in every run: a failure must be found, not met by chance.
fc.configureGlobal({ seed: 1 })

const answer: WholeAnswer = { status: 200, fields: {}, body: Buffer.from('answer') }

/** A client who remembers what it was given. */
class Listener implements Receiver {
  readonly wholeBytes = 1
  readonly job: Job
  readonly given: { how: string; account: Account }[] = []
  readonly #then: (() => void)[] = []
  hungUp = false
  streaming = false

  constructor(job: Job) {
    this.job = job
  }

  get waits(): boolean {
    return !this.hungUp && this.given.length === 0
  }

  onGone(then: () => void): void {
    this.#then.push(then)
  }

  hangUp(): void {
    this.hungUp = true
    for (const then of this.#then) then()
  }

  attempted(): void {}

  closeAfterwards(): void {}

  refuse({ code }: { code: string }, account: Account): void {
    this.#give(code, account)
  }

  breakOff(): void {
    assert.ok(this.streaming, 'only what has begun is broken off')
    this.#give('broken', {})
  }

  deliver(whole: WholeAnswer, account: Account): void {
    assert.ok(!this.streaming)
    assert.equal(whole, answer)
    this.#give('whole', account)
  }

  begin(_: unknown, account: Account): Sink {
    assert.ok(this.waits && !this.streaming)
    this.streaming = true
    return {
      write: () => undefined,
      end: () => {
        this.#give('stream', account)
        for (const then of this.#then) then()
      },
    }
  }

  #give(how: string, account: Account): void {
    assert.ok(this.waits, `one that does not wait is given ${how}`)
    this.given.push({ how, account })
  }
}

/** What an exchange is to its recipient. */
interface Running {
  job: Job
  receiver: Receiver
  sink?: Sink
  done: boolean
  cancelled: boolean
}

/** The front around shared answers, and a brain that does what it is told to. */
class World {
  readonly answers = new SharedAnswers(() => Date.now())
  readonly listeners: Listener[] = []
  readonly jobs: Running[] = []
  readonly computations: { live: Running[]; overs: number }[] = []
  kept = 0

  arrive(key: string, { deadlineMs, client = 'a', fresh = false }: Arrival = {}): Listener {
    const job: Job = {
      ...{ id: `j${this.listeners.length}`, workload: 'w', work: 1, memoryMb: 1, client },
      ...(deadlineMs !== undefined && { deadlineAt: Date.now() + deadlineMs }),
    }
    const listener = new Listener(job)
    this.listeners.push(listener)
    const waiter = { job, client: listener, arrivedAt: Date.now() }
    if (!fresh && this.answers.join(key, waiter, 1_000)) return listener
    const computation = { live: [] as Running[], overs: 0 }
    this.computations.push(computation)
    this.answers.lead(key, waiter, {
      wholeBytes: 100,
      start: (started, receiver) => {
        assert.ok(!this.jobs.some((other) => other.job.id === started.id), 'no job is started twice')
        assert.equal(computation.overs, 0)
        const running: Running = { job: started, receiver, done: false, cancelled: false }
        receiver.onGone(() => {
          if (running.done) return
          running.done = true
          running.cancelled = true
        })
        this.jobs.push(running)
        computation.live.push(running)
      },
      keep: () => this.kept++,
      over: () => {
        computation.overs++
      },
    })
    return listener
  }

  get live(): Running[] {
    return this.jobs.filter(({ done }) => !done)
  }

  get waiting(): Listener[] {
    return this.listeners.filter(({ waits }) => waits)
  }

  finish(running: Running): void {
    running.done = true
    const before = this.waiting.length
    if (running.sink) running.sink.end()
    else running.receiver.deliver(answer, { 'plimsoll-job': running.job.id })
    assert.ok(this.waiting.length < before, 'somebody waited for what was computed')
  }

  refuse(running: Running, code: string): void {
    running.done = true
    running.receiver.refuse(refusal({ code, afterMs: 1, retryAfterMs: 1 }), {
      'plimsoll-job': running.job.id,
    })
  }

  breakOff(running: Running): void {
    if (!running.sink) return
    running.done = true
    running.receiver.breakOff()
  }

  begin(running: Running): void {
    if (running.sink) return
    const sink = running.receiver.begin(answer, { 'plimsoll-job': running.job.id })
    running.sink = sink
  }

  /** The brain refuses whose time is up. */
  checkDeadlines(): void {
    for (const running of this.live) {
      if ((running.job.deadlineAt ?? Infinity) <= Date.now()) this.refuse(running, 'deadline')
    }
  }
}

interface Arrival {
  deadlineMs?: number | undefined
  client?: string
  fresh?: boolean
}

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
  else if (now.do === 'limit') world.refuse(running, 'rate-limit')
  else world.refuse(running, now.do === 'error' ? 'workload-error' : 'poison')
}

function check(world: World): void {
  if (world.waiting.length === 0) assert.deepEqual(world.live, [], 'what nobody waits for is cancelled')
  for (const { job, given, streaming } of world.listeners) {
    const [{ how, account } = { how: '', account: {} as Account }] = given
    const isOwn = account['plimsoll-job'] === job.id
    if (how === 'deadline')
      assert.ok(job.deadlineAt! <= Date.now(), 'nobody is refused before its own deadline')
    if (how === 'rate-limit' && !isOwn && !streaming) {
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

test('whoever arrives, hangs up or is refused: each is answered once, and jobs end when nobody waits', (t) => {
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
      // Nothing that is over can be joined.
      world.arrive('x')
      assert.equal(world.live.length, 1)
      world.finish(world.live[0]!)
    }),
    { numRuns: 500 },
  )
  const all = ['broken', 'deadline', 'poison', 'rate-limit', 'stream', 'whole', 'workload-error']
  assert.deepEqual([...seen].sort(), all)
})

test('the job goes on when the first client hangs up, and is cancelled when the last one does', (t) => {
  clock(t)
  const world = new World()
  const [first, second] = [world.arrive('x'), world.arrive('x')]
  assert.equal(world.jobs.length, 1)
  first.hangUp()
  assert.equal(world.live.length, 1)
  second.hangUp()
  assert.equal(world.jobs[0]!.cancelled, true)
})

test('whose deadline is later than that of the job is given another job when that is refused', (t) => {
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

test('who is in more of a hurry shares a job that runs, and none that waits', (t) => {
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

test('a long answer goes to one, and the others are given jobs of their own', (t) => {
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

test('a long answer that would be broken off at the deadline of one who hung up goes to nobody', (t) => {
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

test('a long answer that has begun is broken off, and not asked for again', (t) => {
  clock(t)
  const world = new World()
  const [first, second] = [world.arrive('x'), world.arrive('x', { client: 'b' })]
  first.hangUp()
  world.begin(world.live[0]!)
  world.refuse(world.live[0]!, 'rate-limit')
  assert.equal(second.given[0]!.how, 'rate-limit')
  assert.equal(world.jobs.length, 1)
})

test('who wants a new answer begins a job that later ones join, also when the older is done', (t) => {
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
