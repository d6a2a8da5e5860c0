/** Deadlines, in virtual time: which jobs go first and when, and which are refused early. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Action } from '../../model/action.ts'
import { answers, only, sent, Trial } from '../testing/trial.ts'
import { toldMs } from './retry-after.ts'

/** Workers that do a unit of work in a millisecond, without turns. */
function cluster(workers = 1, limits = {}): Trial {
  const trial = new Trial({ scheduler: 'srpt', limits: { mostSlowdown: 0, ...limits } })
  for (let i = 1; i <= workers; i++) trial.joins(`w${i}`)
  return trial
}

/** A tick at that time, which must be when the brain asked for it. */
function rings(trial: Trial, at: number): Action[] {
  assert.equal(only(trial.history, 'wake').at(-1)!.at, at)
  trial.now = at
  return trial.tick()
}

const running = (trial: Trial) =>
  trial.view.workers.flatMap(({ jobs }) => jobs.filter((job) => job.running).map(({ job }) => job))

test('a queued job starts when 1.25 times its work fits before its deadline, even if it is longer', () => {
  const trial = cluster()
  trial.arrives('report', { work: 1000 })
  assert.deepEqual(sent(trial.arrives('bill', { work: 2000, deadlineAt: 3000 })), [])
  assert.deepEqual(sent(trial.after(499).tick()), [])
  const [run] = only(rings(trial, 500), 'run')
  assert.deepEqual(run!.precedence, { tier: 0, until: 1e18, due: 500 })
  assert.deepEqual(run!.reason, {
    ...{ code: 'goes-first', needMs: 2000, leftMs: 500, preempts: 'report' },
    deadlineMs: 2500,
  })
  assert.deepEqual(running(trial), ['bill'])
  // It keeps its core, even from shorter jobs.
  trial.arrives('short', { work: 1 })
  assert.deepEqual(running(trial), ['bill'])
})

test('a paused job resumes when its remaining work just fits before its deadline', () => {
  const trial = cluster()
  trial.arrives('bill', { work: 2000, deadlineAt: 5000 })
  trial.after(400).arrives('short', { work: 1500 })
  assert.deepEqual(running(trial), ['short'])
  // The timer was set as if nothing were done; 400 ms are.
  trial.arrives('shorter', { work: 1400 })
  trial.now = 1800
  trial.finishes('shorter')
  assert.deepEqual(only(rings(trial, 2500), 'rank'), [])
  const [rank] = only(rings(trial, 2900), 'rank')
  assert.deepEqual([rank!.job, rank!.reason], ['bill', { code: 'deadline-near', leftMs: 2100 }])
  assert.deepEqual(running(trial), ['bill'])
})

test('the slack of a running job is checked only a few times', () => {
  const trial = cluster()
  trial.arrives('bill', { work: 2000, deadlineAt: 2501 })
  let ticks = 0
  for (let at = 0; at < 2000; ticks++) {
    at = only(trial.history, 'wake').at(-1)!.at
    trial.now = at
    if (only(trial.tick(), 'rank').length > 0) break
  }
  assert.equal(ticks, 0)
  assert.deepEqual(only(trial.history, 'rank').length, 1)
})

test('the slack of a job that outgrew its estimate follows the revised estimate', () => {
  const trial = cluster()
  trial.arrives('bill', { work: 1000, deadlineAt: 4000 })
  trial.after(1500).progresses('bill', 1500)
  trial.arrives('short', { work: 1000 })
  assert.deepEqual(running(trial), ['short'])
  // It is expected to need 3,000, of which 1,500 are done.
  trial.arrives('shorter', { work: 900 })
  assert.deepEqual(only(rings(trial, 2750), 'rank').length, 1)
})

test('a job on a slow worker must begin earlier', () => {
  const trial = cluster()
  trial.arrives('other', { work: 200 })
  trial.joins('slow', { workPerSecond: 500 })
  assert.deepEqual(sent(trial.arrives('bill', { work: 1000, deadlineAt: 10_000 })), ['bill slow'])
  assert.deepEqual(sent(trial.arrives('short', { work: 150 })), ['short slow'])
  assert.equal(only(rings(trial, 7500), 'rank').length, 1)
})

test('among jobs that must begin, the one with the least slack goes first, whatever its deadline', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ work: fc.integer({ min: 1000, max: 4000 }), slack: fc.integer({ min: 0, max: 500 }) }),
        {
          minLength: 2,
          maxLength: 6,
        },
      ),
      (jobs) => {
        const trial = cluster()
        trial.arrives('long', { work: 50 })
        const due = jobs.map(({ slack }, i) => ({ id: `j${i}`, slack }))
        for (const [i, { work, slack }] of jobs.entries())
          trial.arrives(`j${i}`, { work, deadlineAt: work * 1.25 + slack })
        // By then all of them must run.
        for (let at = 0; at <= 500; at += 20) {
          trial.now = at
          trial.tick()
        }
        const least = Math.min(...due.map(({ slack }) => slack))
        const [first] = running(trial)
        assert.equal(due.find(({ id }) => id === first)?.slack, least)
      },
    ),
    { numRuns: 60, seed: 6 },
  )
})

test('a job without a deadline is preempted only when the slack of another is used up', () => {
  const trial = cluster(2)
  trial.arrives('a', { work: 1000 })
  trial.arrives('b', { work: 3000 })
  trial.arrives('bill', { work: 2000, deadlineAt: 10_000 })
  for (let i = 0; i < 7; i++) {
    trial.after(1000).tick()
    assert.deepEqual(only(trial.history, 'pause'), [])
    if (i === 0) trial.finishes('a')
  }
  assert.deepEqual(running(trial), ['bill', 'b'])
})

test('a job is refused at once if even the low end of its interval exceeds the time left', () => {
  const trial = cluster()
  const [answer] = only(trial.arrives('late', { work: 3000, low: 2000, deadlineAt: 1000 }), 'answer')
  assert.deepEqual(
    [answer!.outcome, answer!.reason],
    ['refused', { code: 'no-time', needMs: 2000, leftMs: 1000 }],
  )
  assert.deepEqual([trial.view.jobs, trial.view.timers], [0, 0])
  // Without an interval, or without a ready worker, nothing is refused.
  assert.deepEqual(answers(trial.arrives('unknown', { work: 3000, deadlineAt: 1000 })), [])
  assert.deepEqual(answers(cluster(0).arrives('early', { work: 3000, low: 2000, deadlineAt: 1000 })), [])
})

test('a job is refused at once if it does not fit with all jobs of earlier deadlines', () => {
  const trial = cluster(2)
  for (let i = 0; i < 4; i++) trial.arrives(`bill${i}`, { work: 1000, low: 900, deadlineAt: 2000 })
  const [answer] = only(trial.arrives('one-more', { work: 1000, low: 900, deadlineAt: 2100 }), 'answer')
  const { retryAfterMs, ...reason } = answer!.reason
  assert.deepEqual(reason, { code: 'no-time-for-all', needMs: 900, togetherMs: 2250, leftMs: 2100 })
  assert.equal(retryAfterMs, toldMs(2250 - 2100, 5))
  // Work already done counts, and jobs with later deadlines wait.
  assert.deepEqual(answers(trial.after(500).arrives('sooner', { work: 900, low: 800, deadlineAt: 1900 })), [])
  assert.deepEqual(answers(trial.arrives('again', { work: 100, low: 90, deadlineAt: 3000 })), [])
})

test('a queued job that can no longer meet its deadline is refused before it', () => {
  const trial = cluster(1)
  trial.arrives('stubborn', { work: 5000, preemptible: false })
  trial.arrives('bill', { work: 1000, low: 800, deadlineAt: 2000 })
  assert.deepEqual(answers(rings(trial, 750)), [])
  const actions = rings(trial, 1200)
  assert.deepEqual(answers(actions), ['bill refused no-time'])
  const { retryAfterMs, ...reason } = only(actions, 'answer')[0]!.reason
  assert.deepEqual(reason, { code: 'no-time', needMs: 800, leftMs: 800 })
  // The job that took its time needs another 3.8 s.
  assert.equal(retryAfterMs, toldMs(3800, 2))
  assert.deepEqual([trial.view.jobs, trial.view.waiting.length, trial.view.leftBehind()], [1, 0, undefined])
})

test('a job that has begun is never refused before its deadline', () => {
  const trial = cluster()
  trial.arrives('bill', { work: 1000, low: 800, deadlineAt: 1100 })
  assert.deepEqual(answers(trial.after(1000).tick()), [])
  assert.deepEqual(answers(trial.after(100).tick()), ['bill refused deadline'])
  assert.equal(trial.view.timers, 0)
})

test('a job that must run for its deadline gives up its turn, but not its core', () => {
  const trial = cluster(1, { mostSlowdown: 10 })
  trial.arrives('busy', { work: 400 })
  trial.arrives('bill', { work: 500, deadlineAt: 740 })
  trial.arrives('other', { work: 900 })
  trial.after(100).tick()
  assert.deepEqual([running(trial), trial.view.turns], [['bill'], { taken: 1, most: 1, owed: 1 }])
  const actions = rings(trial, 115)
  assert.deepEqual(
    only(actions, 'rank').map(({ job, reason }) => `${job} ${reason.code}`),
    ['bill deadline-near'],
  )
  assert.deepEqual(sent(actions), [])
  assert.deepEqual([running(trial), trial.view.turns], [['bill'], { taken: 0, most: 1, owed: 1 }])
  assert.deepEqual(sent(trial.after(400).finishes('bill')), ['other w1'])
})

test('under disciplines that do not rank jobs, deadlines only end jobs', () => {
  const trial = new Trial({ scheduler: 'least-connections' })
  trial.joins('w1')
  assert.deepEqual(answers(trial.arrives('late', { work: 3000, low: 2000, deadlineAt: 1000 })), [])
  assert.equal(trial.view.timers, 1)
})

test('a deadline that is met at the learned speed is accepted, and one that is missed even so is refused', () => {
  const speed = { expected: 8, high: 10 }
  const large = { work: 16_000, low: 12_000, high: 20_000, speed }
  const trial = cluster()
  assert.deepEqual(sent(trial.arrives('large', { ...large, deadlineAt: 3000 })), ['large w1'])
  // Jobs with earlier deadlines count by their own speed: 1,200 ms and 1,200 ms.
  assert.deepEqual(answers(trial.arrives('next', { ...large, deadlineAt: 3001 })), [])
  const [late] = only(cluster().arrives('late', { ...large, deadlineAt: 1000 }), 'answer')
  assert.deepEqual(late!.reason, { code: 'no-time', needMs: 1200, leftMs: 1000 })
})

test('the latest start of a job follows from its learned speed', () => {
  const trial = cluster()
  trial.arrives('report', { work: 1000 })
  trial.arrives('bill', { work: 16_000, speed: { expected: 8, high: 8 }, deadlineAt: 3000 })
  assert.deepEqual(sent(trial.after(499).tick()), [])
  // 1.25 times two seconds before its deadline.
  assert.deepEqual(sent(rings(trial, 500)), ['bill w1'])
})
