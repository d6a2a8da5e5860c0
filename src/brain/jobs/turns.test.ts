/** Turns, in virtual time: which jobs are owed one, when they get it, how long it lasts, and how many there are. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stream } from '../../lib/random.ts'
import type { Action } from '../../model/action.ts'
import type { WorkerFacts } from '../../model/worker.ts'
import { only, sent, Trial } from '../testing/trial.ts'

const limits = { mostSlowdown: 10, turnMs: 10 }

/** Workers that do a unit of work in a millisecond, and ticks when the brain has asked for them. */
class Turns extends Trial {
  #ticked = 0

  constructor(workers: number, facts: Partial<WorkerFacts> = {}, more = {}) {
    super({ scheduler: 'srpt', limits: { ...limits, ...more } })
    for (let i = 1; i <= workers; i++) this.joins(`w${i}`, facts)
  }

  /** Lets time pass, with a tick whenever one was asked for; what happened meanwhile. */
  passes(ms: number): Action[] {
    const from = this.history.length
    const end = this.now + ms
    for (;;) {
      // A tick uses up the wake-up that was asked for.
      const wake = only(this.history.slice(this.#ticked), 'wake').at(-1)?.at ?? Infinity
      if (wake > end) break
      this.now = Math.max(this.now, wake)
      this.#ticked = this.history.length
      this.tick()
    }
    this.now = end
    return this.history.slice(from)
  }

  running(): string[] {
    return this.view.workers
      .flatMap(({ jobs }) => jobs.filter(({ running }) => running).map(({ job }) => job))
      .toSorted()
  }
}

/** One core; a job with a high estimate has run for 100 ms when a shorter job preempts it. */
function passedBy(): Turns {
  const trial = new Turns(1)
  trial.arrives('long', { work: 50_000 })
  trial.passes(100)
  trial.arrives('short', { work: 5_000 })
  assert.deepEqual(trial.running(), ['short'])
  return trial
}

test('a job gets its turn when its age is `mostSlowdown` times its time on a core plus `turnMs`', () => {
  const trial = passedBy()
  // Ten times 100 ms and 10 ms.
  assert.deepEqual(only(trial.passes(999.9), 'rank'), [])
  const [rank] = only(trial.passes(0.1), 'rank')
  assert.equal(trial.now, 1100)
  assert.deepEqual(rank, {
    ...{ type: 'rank', epoch: 1, job: 'long', attempt: 1, worker: 'w1' },
    precedence: { tier: 0, until: 165, due: 1265 },
    reason: { code: 'owed-turn', waitedMs: 1100, ranMs: 100 },
  })
  assert.deepEqual(trial.running(), ['long'])
  assert.deepEqual(trial.view.turns, { taken: 1, most: 1, owed: 0 })
})

test('a job keeps its core until it has done what its turn allows, even from a shorter job', () => {
  const trial = passedBy()
  trial.passes(1000)
  trial.arrives('shorter', { work: 10 })
  assert.deepEqual(trial.running(), ['long'])
  trial.after(30).progresses('long', 130)
  assert.deepEqual(trial.running(), ['long'])
  trial.after(35).progresses('long', 165)
  assert.deepEqual(trial.running(), ['shorter'])
  assert.equal(trial.view.turns.taken, 0)
})

test('a job that does no work in its turn loses it after its time', () => {
  const trial = passedBy()
  trial.passes(1000)
  trial.reports('w1', [trial.held('long', 100), trial.held('short')])
  assert.deepEqual(only(trial.passes(97), 'rank'), [])
  const [over] = only(trial.passes(1), 'rank')
  assert.deepEqual([over!.job, over!.reason], ['long', { code: 'turn-over', ranMs: 197.5 }])
  assert.deepEqual(over!.precedence, { tier: 0, until: 0, due: 0 })
  assert.deepEqual([trial.running(), trial.view.turns.taken], [['short'], 0])
  // Its time on a core counts, whatever it did there.
  trial.passes(2074 - trial.now)
  assert.equal(trial.view.turns.taken, 0)
  assert.equal(only(trial.passes(1), 'rank')[0]!.reason.ranMs, 197.5)
})

test('after its turn a job waits for the next one, which is longer', () => {
  const trial = passedBy()
  trial.passes(1000)
  trial.after(65).progresses('long', 165)
  assert.deepEqual(trial.running(), ['short'])
  const ranks = only(trial.passes(600), 'rank')
  assert.deepEqual(
    ranks.map(({ reason, precedence }) => [reason.waitedMs, reason.ranMs, precedence.until]),
    [[1750, 165, 262.5]],
  )
})

test('a queued job is sent to a worker for its turn', () => {
  const trial = new Turns(1)
  trial.arrives('first', { work: 5_000 })
  trial.arrives('queued', { work: 50_000 })
  assert.deepEqual(sent(trial.passes(99)), [])
  const [run] = only(trial.passes(1), 'run')
  assert.deepEqual([run!.job, run!.reason.code, run!.reason.hereMs], ['queued', 'goes-first', 100])
  assert.deepEqual(run!.precedence, { tier: 0, until: 15, due: 115 })
})

test('a job that cannot plausibly be short is owed its first turn later', () => {
  const trial = new Turns(1)
  trial.arrives('first', { work: 5_000 })
  trial.arrives('sure', { work: 50_000, low: 40_000, high: 60_000 })
  // 40,000 × 40,000 ÷ 50,000 units take 32 s.
  assert.deepEqual(sent(trial.passes(10 * 32_000 - 1)), [])
  assert.deepEqual(sent(trial.passes(1)), ['sure w1'])
})

test('a running job gets no turn, but keeps its claim', () => {
  const trial = new Turns(1)
  trial.arrives('first', { work: 2_000 })
  trial.arrives('queued', { work: 1_990 })
  trial.after(50).finishes('first')
  assert.deepEqual(only(trial.passes(300), 'rank'), [])
  assert.deepEqual(trial.running(), ['queued'])
  trial.arrives('short', { work: 1000 })
  assert.equal(trial.view.turns.taken + trial.view.turns.owed, 0)
  assert.ok(only(trial.passes(4_000), 'rank').length > 0)
})

test('turns take at most a quarter of the cores, at least one; the longest due come first', () => {
  for (const [workers, cores] of [
    [1, 1],
    [1, 3],
    [2, 4],
    [3, 4],
  ] as const) {
    const trial = new Turns(workers, { cores, slots: 100 })
    const most = Math.max(1, Math.floor((workers * cores) / 4))
    for (let i = 0; i < workers * cores; i++) trial.arrives(`busy${i}`, { work: 5_000 })
    for (let i = 0; i < most + 3; i++) trial.after(1).arrives(`owed${i}`, { work: 50_000 })
    const begun = sent(trial.passes(101)).map((run) => run.split(' ')[0])
    assert.deepEqual(
      begun,
      Array.from({ length: most }, (_, i) => `owed${i}`),
    )
    assert.deepEqual(trial.view.turns, { taken: most, most, owed: 3 })
    // A job that ends in its turn lets the next have one, but turns never take more than a quarter of the time.
    const atOnce = sent(trial.finishes('owed0'))
    assert.equal(atOnce.length, workers * cores < 4 ? 0 : 1)
    const [next] = [...atOnce, ...sent(trial.passes(60))]
    assert.equal(next!.split(' ')[0], `owed${most}`)
  }
})

test('a job gets no turn on a worker whose slots are half full, until there is room again', () => {
  const trial = new Turns(1, { slots: 4 })
  for (const [i, work] of [9000, 8000, 7000].entries()) trial.arrives(`j${i}`, { work })
  trial.arrives('queued', { work: 50_000 })
  const later = trial.passes(100)
  assert.ok(!sent(later).includes('queued w1'))
  assert.ok(trial.view.turns.owed >= 1)
  // Jobs that have begun get theirs regardless.
  const running = () => trial.running()[0]!
  while (trial.view.workers[0]!.jobs.length > 2) trial.finishes(running())
  trial.passes(200)
  while (trial.view.turns.owed > 0) trial.finishes(running())
  assert.equal(trial.at('queued').attempt, 1)
})

test('a worker that joins again is told the precedence of its jobs again', () => {
  const trial = passedBy()
  const [given] = only(trial.passes(1000), 'rank')
  const back = trial.joins('w1', {}, { held: [trial.held('long', 100), trial.held('short')] })
  assert.deepEqual(only(back, 'rank'), [{ ...given, reason: { code: 'said-again' } }])
})

test('a failed attempt ends its turn, and the job is owed another', () => {
  const trial = passedBy()
  trial.passes(1000)
  trial.joins('w2')
  trial.fails('long', 'crash')
  assert.deepEqual([trial.view.turns.taken, trial.at('long').worker], [0, 'w2'])
  for (const job of ['s1', 's2', 's3']) trial.arrives(job, { work: 100 })
  assert.ok(only(trial.passes(400), 'rank').some(({ job }) => job === 'long'))
})

test('with `mostSlowdown` 0, or a discipline that does not rank jobs, there are no turns', () => {
  for (const spec of [{ limits: { mostSlowdown: 0 } }, { limits, discipline: 'fifo' as const }]) {
    const trial = new Trial({ scheduler: 'srpt', ...spec })
    trial.joins('w1')
    trial.arrives('first', { work: 5_000 })
    trial.arrives('queued', { work: 50_000 })
    assert.deepEqual(only(trial.history, 'wake'), [])
    assert.equal(trial.view.timers, 0)
  }
})

test('turns are bounded and leave nothing behind, whatever jobs arrive, end and fail', () => {
  const story = (seed: number): Action[] => {
    const random = stream(seed, 'turns')
    const trial = new Turns(2, { cores: 2, slots: 8 }, { mostSlowdown: 3 })
    for (let step = 1; step <= 120; step++) {
      trial.passes(random.below(40))
      const running = trial.running()
      const one = running[random.below(running.length)]
      const draw = random.below(10)
      if (draw < 5 || !one) {
        const work = 20 + random.below(2_000)
        const deadlineAt =
          random.below(3) === 0 ? { deadlineAt: trial.now + work * (1 + random.below(4)) } : {}
        trial.arrives(`j${step}`, { work, low: work / 3, high: work * 3, ...deadlineAt })
      } else if (draw < 8) trial.finishes(one)
      else if (draw === 8) trial.fails(one, 'unreachable')
      else trial.progresses(one, 1 + random.below(500))
      const { taken, most } = trial.view.turns
      assert.ok(taken >= 0 && taken <= most)
      assert.equal(trial.view.leftBehind(), undefined)
    }
    return trial.history
  }
  const ranked = new Set<string>()
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
      for (const { reason } of only(story(seed), 'rank')) ranked.add(reason.code)
    }),
    { numRuns: 25, seed: 6 },
  )
  assert.deepEqual([...ranked].toSorted(), ['deadline-near', 'owed-turn', 'turn-over'])
})
