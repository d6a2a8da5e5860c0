import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import type { BrainLimits } from '../brain/limits.ts'
import { readLog } from '../brain/log/read-log.ts'
import { stream } from '../lib/random.ts'
import type { Event } from '../model/event.ts'
import { usualPrices } from '../model/prices.ts'
import { Bill } from '../story/money.ts'
import { arrivalsFromFile, bursty } from './arrivals.ts'
import { rank } from './clock.ts'
import { replay } from './replay.ts'
import { guess, type RunHooks, type RunResult, simulate, unitsPerSecond } from './simulate.ts'
import { exponential, lognormal } from './sizes.ts'
import { World } from './world.ts'

const fleet = { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 10, bootMs: 0 }
const brain = (limits: Partial<BrainLimits> = {}) => ({
  scheduler: 'srpt' as const,
  discipline: 'srpt' as const,
  scale: { min: 1, max: 1 },
  epoch: 1,
  seed: 1,
  limits,
})

/** A world, and the events that its brain has received. */
function watched(
  limits: Partial<BrainLimits> = {},
  workPerSecond = unitsPerSecond,
): { world: World; events: Event[] } {
  const events: Event[] = []
  const world = new World({
    brain: brain(limits),
    seed: 1,
    fleet: { ...fleet, workPerSecond },
    observer: { observe: (event) => void events.push(event) },
  })
  return { world, events }
}

test('a job that finds no slot started does its work after the start, and the brain learns what that takes', () => {
  const events: Event[] = []
  const ends: [string, number][] = []
  const world = new World({
    brain: brain({ beatMs: 100 }),
    seed: 1,
    fleet: { ...fleet, workPerSecond: 1000, slotStart: { ms: 200, warm: 1 } },
    observer: { observe: (event) => void events.push(event) },
    answered: ({ job }, _, now) => void ends.push([job.id, now]),
  })
  world.begin()
  world.clock.step()
  const began = world.clock.now
  world.submit({ id: 'long', workload: 'w', work: 5000, memoryMb: 0 }, 5000)
  // Nobody knows yet what a start takes.
  world.submit({ id: 'short', workload: 'w', work: 50, memoryMb: 0 }, 50)
  while (ends.length === 0) world.clock.step()
  assert.deepEqual(ends, [['short', began + 250]])
  const starts = events.flatMap((event) => (event.type === 'reported' ? [event.slotStarts] : []))
  assert.deepEqual(starts[0], { ready: 2, startMs: 200 })
  world.submit({ id: 'next', workload: 'w', work: 50, memoryMb: 0 }, 50)
  const at = world.clock.now
  while (ends.length === 1) world.clock.step()
  assert.deepEqual(ends[1], ['next', at + 50])
})

test('worker and brain agree on the revised estimate of a job that outgrew its first one', () => {
  for (const work of [1, 3, 1001, 100_000, 333_333]) {
    const { world, events } = watched({}, 100_000)
    world.begin()
    world.clock.step()
    world.submit({ id: 'j1', workload: 'w', work, memoryMb: 0 }, work * 10)
    while (events.at(-1)!.type !== 'progressed') world.clock.step()
    const node = [...world.nodes.values()][0]!
    const { expected } = node.worker.jobs[0]!
    // Work is reported in whole units.
    const noticed = Math.ceil(work * 1.5)
    assert.equal(expected, noticed * 2)
    const believed = world.brain.view().workers[0]!.jobs[0]!.remaining
    assert.ok(Math.abs(believed - noticed) <= 1, `${work}: ${believed}`)
  }
})

test('short requests that nobody knows pass long ones that nobody knows', () => {
  const { world, events } = watched({ queue: 100 }, 100_000)
  world.begin()
  world.clock.step()
  const submit = (id: string, seconds: number) =>
    world.submit(
      { id, workload: 'w', work: 1e6, low: 1, high: 1e12, memoryMb: 0, unproven: true },
      seconds * 1e5,
    )
  for (let i = 0; i < 6; i++) submit(`long${i}`, 1000)
  submit('short', 0.1)
  while (events.at(-1)!.type !== 'finished') world.clock.step()
  const last = events.at(-1)!
  assert.equal(last.type === 'finished' && last.job, 'short')
  assert.ok(world.clock.now < 60_000, `${world.clock.now}`)
})

/** 400 jobs for a fleet of some size, a third with deadlines; few wait more than five times as long as they run. */
function busyWorld(seed: number, sigma: number, codes: Set<string>): World {
  const random = stream(seed, 'agreement')
  const workers = 1 + random.below(3)
  const cores = 1 + random.below(3)
  const world = new World({
    brain: { ...brain({ mostSlowdown: 5 }), scale: { min: workers, max: workers } },
    seed,
    fleet: { ...fleet, cores, slots: cores + 2 + random.below(12) },
    observer: {
      observe(_, actions) {
        for (const action of actions)
          if (action.type === 'rank' || action.type === 'run' || action.type === 'answer')
            codes.add(`${action.type} ${action.reason.code}`)
      },
    },
  })
  world.begin()
  const sizes = lognormal()
  const within = Math.exp(1.645 * sigma)
  const meanMs = (sizes.meanSeconds / (0.9 * workers * cores)) * 1000
  let time = 0
  for (let i = 1; i <= 400; i++) {
    time += random.exponential() * meanMs
    const size = Math.max(1, Math.round(sizes.draw(random) * unitsPerSecond))
    const work = guess(size, sigma, random)
    const deadlineAt = time + (size / 1000) * (1 + 8 * random.next())
    const job = {
      ...{ id: `j${i}`, workload: 'w', work, low: Math.floor(work / within), high: Math.ceil(work * within) },
      memoryMb: 0,
      preemptible: random.next() > 0.05,
      ...(random.next() < 0.3 && { deadlineAt }),
    }
    world.clock.at(time, rank.arrival, () => world.submit(job, size))
  }
  return world
}

for (const sigma of [0.5, 2]) {
  test(`worker and brain agree on which jobs run, with turns and deadlines, at every moment (sigma ${sigma})`, () => {
    const codes = new Set<string>()
    for (let seed = 1; seed <= share(20); seed++) {
      const world = busyWorld(seed, sigma, codes)
      while (world.clock.step()) {
        // Compare only after everything at this instant has happened.
        while (world.clock.step(world.clock.now));
        for (const { id, jobs } of world.brain.view().workers) {
          const running = world.nodes.get(id)!.worker.jobs.filter((job) => job.running)
          assert.deepEqual(
            jobs.filter((job) => job.running).map(({ job }) => job),
            running.map(({ job }) => job),
            `seed ${seed}, ${id} at ${world.clock.now}`,
          )
        }
      }
    }
    for (const code of [
      'rank owed-turn',
      'rank deadline-near',
      'run goes-first',
      'run shorter',
      'answer no-time',
    ])
      assert.ok(codes.has(code), `${code} never occurred`)
  })
}

test('a job with an estimate of 0 finishes', () => {
  const { world, events } = watched()
  world.begin()
  world.clock.step()
  world.submit({ id: 'j1', workload: 'w', work: 0, memoryMb: 0 }, 1000)
  for (let i = 0; i < 100 && world.truths.size > 0; i++) world.clock.step()
  assert.equal(events.at(-1)!.type, 'finished')
})

test('a worker that is terminated as it joins sends no further messages', () => {
  const { world, events } = watched({ beatMs: 100 })
  world.boot('nobody-asked', 'w1')
  for (let i = 0; i < 50; i++) world.clock.step(1000)
  const reports = events.filter((event) => event.type === 'reported' && event.worker === 'w1')
  assert.deepEqual(reports, [])
})

test('a run ends with its file of arrivals, even while workers keep reporting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-run-'))
  try {
    const path = join(folder, 'times')
    writeFileSync(path, '1\n2\n3\n')
    const spec = { brain: brain({ beatMs: 100 }), fleet, seed: 1, jobs: 10, errorSigma: 0 }
    let steps = 0
    const observer = {
      observe() {
        if (++steps > 10_000) throw new Error('the run does not end')
      },
    }
    const run = simulate({ ...spec, arrivals: arrivalsFromFile(path), sizes: exponential(0.1) }, { observer })
    assert.equal(run.summary().jobs, 3)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** A burst for one worker, with functions. */
function burst(hooks: RunHooks = {}, concurrency = 5): RunResult {
  return simulate(
    {
      brain: {
        ...brain(),
        overflow: { concurrency, workPerSecond: unitsPerSecond, coldMs: 100, prices: { workerHour: 0.1 } },
      },
      fleet,
      seed: 3,
      jobs: 400,
      arrivals: bursty(3, 10, 20_000, 10_000),
      sizes: exponential(0.3),
      errorSigma: 0.5,
      prices: { ...usualPrices, workerHour: 0.1 },
    },
    hooks,
  )
}

test('jobs that the fleet cannot serve in time overflow to functions, and all are answered', () => {
  const [with5, with1] = [burst(), burst({}, 1)]
  assert.equal(with5.summary().jobs, 400)
  assert.equal(with1.summary().jobs, 400)
  assert.ok(with5.money().functionRequests > 20)
  assert.ok(with5.summary().meanResponseMs < with1.summary().meanResponseMs)
})

test('with functions, the same seed gives the same log, and a replay gives the same actions and bill', async () => {
  const logged = () => {
    const chunks: Buffer[] = []
    const result = burst({ log: (chunk) => void chunks.push(Buffer.from(chunk)) })
    return { text: Buffer.concat(chunks).toString(), result }
  }
  const { text, result } = logged()
  assert.equal(logged().text, text)
  const lines = text.trimEnd().split('\n')
  assert.equal((await replay(lines)).difference, undefined)
  const bill = new Bill({ ...usualPrices, workerHour: 0.1 }, 512)
  await readLog(lines, ({ at, event, actions }) => {
    bill.observe(event, actions, at)
    return true
  })
  assert.deepEqual(bill.at(result.virtualMs), result.money())
})
