/** What a client has paid for in the end, by how its job ends. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../../model/job.ts'
import { explain } from '../../story/reasons.ts'
import type { BrainSpec } from '../../systems/brain-spec.ts'
import { answers, only, Trial } from '../testing/trial.ts'

// Two units per second: almost nothing flows in during a test.
const rateLimit = { workPerMinute: 120, burst: 10_000 }

/** One worker that does 1,000 units per second, the shortest job first. */
function limited(spec: Partial<BrainSpec> = {}): Trial {
  const trial = new Trial({ scheduler: 'srpt', rateLimit, ...spec })
  trial.joins('w')
  return trial
}

/** What is left in the bucket, from the refusal of a job that is too large for it. */
function left(trial: Trial, client = 'a'): number {
  const asked = trial.arrives(`ask-${trial.history.length}`, { work: 1e9, client })
  const [refused] = only(asked, 'answer')
  assert.equal(refused?.reason.code, 'rate-limit')
  return Number(refused.reason.have)
}

const arrives = (trial: Trial, id: string, job: Partial<Job> = {}) =>
  trial.arrives(id, { client: 'a', work: 4000, ...job })

test('a job pays its predicted work on arrival, and settles by its measured work at the end', () => {
  const trial = limited()
  arrives(trial, 'j1')
  assert.equal(left(trial), 6000)
  trial.tell({ type: 'finished', work: 1500, ...trial.at('j1') })
  assert.equal(left(trial), 8500)
  arrives(trial, 'j2')
  trial.tell({ type: 'finished', work: 9000, ...trial.at('j2') })
  assert.equal(left(trial), -500)
})

test('a refusal names what is missing and when it will be available', () => {
  const trial = limited()
  arrives(trial, 'j1', { work: 9990 })
  const [refused] = only(arrives(trial, 'j2', { work: 25 }), 'answer')
  assert.deepEqual(
    [refused?.outcome, refused?.reason],
    ['refused', { code: 'rate-limit', client: 'a', work: 25, have: 10, perMinute: 120, retryAfterMs: 7500 }],
  )
  assert.equal(
    explain(refused!.reason),
    'client a may use 120 units of work a minute and has 10 left; this request needs about 25, available in 8 s',
  )
  assert.deepEqual(answers(arrives(trial.after(7499), 'j3', { work: 25 })), ['j3 refused rate-limit'])
  assert.deepEqual(answers(arrives(trial.after(1), 'j4', { work: 25 })), [])
  const words = explain({ ...refused!.reason, have: -4000, work: 1234.5 })
  assert.match(words, /has used 4,000 more; this request needs about 1,235,/)
})

test('a job larger than the bucket is accepted when the bucket is full, and leaves a debt', () => {
  const trial = limited()
  assert.deepEqual(answers(arrives(trial, 'j1', { work: 30_000 })), [])
  assert.equal(left(trial), -20_000)
  assert.deepEqual(answers(arrives(trial, 'j2', { work: 1 })), ['j2 refused rate-limit'])
  trial.after(15_000_000)
  assert.deepEqual(answers(arrives(trial, 'j3', { work: 30_000 })), [])
})

test('a job that never started gets everything back', () => {
  const trial = new Trial({ rateLimit, limits: { queue: 1 } })
  const isFull = () => {
    const [refused] = only(arrives(trial, 'all', { work: 10_000 }), 'answer')
    trial.tell({ type: 'cancelled', job: 'all' })
    return refused?.reason.code !== 'rate-limit'
  }
  arrives(trial, 'j1')
  assert.equal(left(trial), 6000)
  assert.deepEqual(answers(arrives(trial, 'j2')), ['j2 refused queue-full'])
  assert.equal(left(trial), 6000)
  trial.tell({ type: 'cancelled', job: 'j1' })
  assert.ok(isFull())
  arrives(trial, 'j3', { deadlineAt: 50 })
  assert.ok(!isFull())
  assert.deepEqual(answers(trial.after(50).tick()), ['j3 refused deadline'])
  assert.ok(isFull())
  assert.deepEqual(answers(arrives(trial, 'j4', { deadlineAt: 50 })), ['j4 refused deadline'])
  assert.ok(isFull())
})

test('a job that is stopped while it runs pays for what it has done', () => {
  const stop: Record<string, (trial: Trial) => void> = {
    cancelled: (trial) => trial.after(3000).tell({ type: 'cancelled', job: 'j' }),
    late: (trial) => trial.after(3000).tick(),
  }
  for (const [how, end] of Object.entries(stop)) {
    const trial = limited({ rateLimit: { workPerMinute: 1e-3, burst: 10_000 } })
    arrives(trial, 'j', how === 'late' ? { deadlineAt: 3000 } : {})
    end(trial)
    assert.equal(left(trial), 7000, how)
  }
})

test('a job that fails or crashes pays for all its attempts', () => {
  const trial = limited()
  arrives(trial, 'j')
  trial.tell({ type: 'failed', kind: 'crash', work: 700, ...trial.at('j') })
  trial.tell({ type: 'failed', kind: 'error', work: 200, ...trial.at('j') })
  assert.equal(left(trial), 9100)
})

test('a lost attempt counts with the work that its worker reported', () => {
  const trial = limited()
  arrives(trial, 'j')
  trial.progresses('j', 300)
  trial.tell({ type: 'lost', worker: 'w' })
  trial.joins('v')
  trial.tell({ type: 'failed', kind: 'unreachable', ...trial.at('j') })
  trial.tell({ type: 'finished', work: 1000, ...trial.at('j') })
  assert.equal(left(trial), 8700)
})

test('an invalid measurement counts with the work that the worker reported', () => {
  for (const work of [Number.NaN, Infinity, -5]) {
    const trial = limited()
    arrives(trial, 'j')
    trial.progresses('j', 100)
    trial.tell({ type: 'finished', work, ...trial.at('j') })
    assert.equal(left(trial), 9900)
  }
})

test('jobs without a client share one bucket', () => {
  const trial = limited()
  trial.arrives('j1', { work: 9000 })
  assert.deepEqual(answers(trial.arrives('j2', { work: 9000 })), ['j2 refused rate-limit'])
  assert.equal(left(trial, 'anonymous'), 1000)
})

test('without a rate limit no job is refused for its size', () => {
  const trial = new Trial()
  trial.joins('w')
  for (let i = 0; i < 10; i++) assert.deepEqual(answers(arrives(trial, `j${i}`, { work: 1e12 })), [])
})

test('a client is told what it has left when its job runs, and after one that was rejected', () => {
  const trial = limited({
    rateLimit: { workPerMinute: 60_000, burst: 10_000, coreWorkPerSecond: 1000 },
    limits: { queue: 0 },
  })
  const [run] = only(arrives(trial, 'j1', { preemptible: false }), 'run')
  assert.deepEqual(run?.allowance, { quota: 10, windowS: 10, left: 6, fullS: 4 })
  // Paid, rejected because the worker is busy, and refunded.
  const [full] = only(arrives(trial, 'j2', { memoryMb: 1000 }), 'answer')
  assert.deepEqual([full?.reason.code, full?.allowance], ['queue-full', run?.allowance])
  const [over] = only(arrives(trial.after(1000), 'j3', { work: 8000 }), 'answer')
  assert.deepEqual(
    [over?.reason.code, over?.allowance],
    ['rate-limit', { quota: 10, windowS: 10, left: 7, fullS: 3 }],
  )
  const [finished] = only(trial.finishes('j1'), 'answer')
  assert.equal(finished?.allowance, undefined)
})

test('without a limit, or without the work of a core, no client is told anything', () => {
  for (const spec of [{}, { rateLimit }]) {
    const trial = new Trial(spec)
    trial.joins('w')
    assert.deepEqual(Object.keys(only(arrives(trial, 'j'), 'run')[0]!).includes('allowance'), false)
  }
})
