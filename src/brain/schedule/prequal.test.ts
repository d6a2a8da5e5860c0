import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkerRecord } from '../state.ts'
import { only, sent, Trial } from '../testing/trial.ts'
import { Latencies } from './latencies.ts'
import { type Probe, ProbePool } from './probes.ts'

const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id }) as WorkerRecord) as [
  WorkerRecord,
  WorkerRecord,
  WorkerRecord,
]
const probe = (worker: WorkerRecord, inFlight: number, latencyMs: number, at = 0): Probe => ({
  worker,
  inFlight,
  latencyMs,
  at,
  uses: 0,
})
const any = () => true
/** A pool that has seen from 0 to 9 requests in flight, equally often: more than 8 is hot. */
function poolOf(...probes: Probe[]): ProbePool {
  const pool = new ProbePool()
  for (let i = 0; i < 150; i++) pool.add(probe(c, i % 10, 0))
  pool.forget(c)
  for (const one of probes) pool.add(one)
  assert.equal(pool.hotAbove, 8)
  return pool
}

test('of the cold workers the one with the lowest latency is best, however many jobs it has', () => {
  assert.equal(poolOf(probe(a, 8, 100), probe(b, 1, 200), probe(c, 9, 1)).best(any)!.worker, a)
})

test('if all are hot the one with the fewest in flight is best, whatever its latency', () => {
  assert.equal(poolOf(probe(a, 9, 900), probe(b, 10, 100)).best(any)!.worker, a)
})

test('of equal latencies the one with fewer in flight is best', () => {
  assert.equal(poolOf(probe(a, 2, 100), probe(b, 1, 100), probe(c, 3, 100)).best(any)!.worker, b)
})

test('a worker that may not take the job is skipped', () => {
  const pool = poolOf(probe(a, 1, 1), probe(b, 9, 9))
  assert.equal(pool.best((worker) => worker !== a)!.worker, b)
  assert.equal(
    pool.best(() => false),
    undefined,
  )
})

test('each job sent because of a probe counts as one more in flight', () => {
  const pool = poolOf(probe(b, 10, 1), probe(a, 9, 1))
  const first = pool.best(any)!
  assert.equal(first.worker, a)
  for (let i = 0; i < 2; i++) pool.use(first, 2, 3)
  assert.equal(pool.best(any)!.worker, b)
})

test('a probe serves fewer jobs the more workers there are', () => {
  for (const [workers, uses] of [
    [1000, 2],
    [30, 6],
  ] as const) {
    const pool = poolOf(probe(a, 1, 1))
    for (let i = 1; i <= uses; i++) {
      assert.equal(pool.size, 1)
      pool.use(pool.best(any)!, workers, 3)
    }
    assert.equal(pool.size, 0)
  }
})

test('a probe expires after a second, or when there is a newer one', () => {
  const pool = poolOf(probe(a, 1, 1, 500), probe(b, 1, 1, 900))
  pool.age(1501)
  assert.equal(pool.size, 1)
  pool.add(probe(b, 7, 1, 1501))
  assert.equal(pool.size, 1)
  assert.equal(pool.best(any)!.inFlight, 7)
})

test('the oldest and the worst are removed alternately', () => {
  const pool = poolOf(probe(a, 1, 1), probe(b, 1, 900), probe(c, 9, 2))
  pool.tidy()
  assert.equal(
    pool.best((worker) => worker === a),
    undefined,
  )
  pool.tidy()
  assert.equal(pool.best(any)!.worker, b)
  assert.equal(pool.size, 1)
})

test('the number of probes is bounded', () => {
  const pool = new ProbePool()
  for (let i = 0; i < 100; i++) pool.add(probe({ id: `w${i}` } as WorkerRecord, 1, 1))
  assert.equal(pool.size, 16)
})

test('latency is the median of jobs that found as many in flight, or else the next fewer', () => {
  const seen = new Latencies()
  for (const tookMs of [10, 30, 20]) seen.add({ at: 0, found: 1, tookMs })
  for (const tookMs of [500, 700, 600]) seen.add({ at: 0, found: 8, tookMs })
  assert.equal(seen.at(1, 0), 20)
  assert.equal(seen.at(7, 0), 20)
  assert.equal(seen.at(8, 1000), 600)
  assert.equal(seen.at(20, 1000), 600)
})

test('a worker that is new, was idle, or is less busy than any recent job found is tried', () => {
  const seen = new Latencies()
  assert.equal(seen.at(3, 0), 0)
  seen.add({ at: 0, found: 2, tookMs: 100 })
  assert.equal(seen.at(2, 1001), 0)
  assert.equal(seen.at(1, 0), 0)
})

test('only the last answers are remembered', () => {
  const seen = new Latencies()
  seen.add({ at: 0, found: 2, tookMs: 100 })
  for (let i = 0; i < 32; i++) seen.add({ at: 0, found: 1, tookMs: 5 })
  assert.equal(seen.at(2, 0), 5)
})

test('a slow worker is avoided until the others are hot', () => {
  const trial = new Trial({ scheduler: 'prequal' })
  for (const id of ['slow', 'fast']) trial.joins(id)
  trial.arrives('j1')
  trial.arrives('j2')
  const at = (worker: string) => (trial.at('j1').worker === worker ? 'j1' : 'j2')
  assert.notEqual(trial.at('j1').worker, trial.at('j2').worker)
  trial.after(10).finishes(at('fast'))
  trial.after(500).finishes(at('slow'))
  for (let i = 0; i < 20; i++) {
    assert.deepEqual(sent(trial.arrives(`k${i}`)), [`k${i} fast`])
    trial.after(10).finishes(`k${i}`)
  }
  // Both were nearly always empty, so that a worker with two jobs is hot.
  assert.deepEqual(sent([...trial.arrives('m1'), ...trial.arrives('m2')]), ['m1 fast', 'm2 slow'])
})

test('an error does not count as a latency', () => {
  const trial = new Trial({ scheduler: 'prequal' })
  trial.joins('a')
  trial.arrives('j1')
  trial.fails('j1', 'error')
  trial.arrives('j2')
  trial.after(700).finishes('j2')
  const [run] = only(trial.arrives('j3'), 'run')
  assert.deepEqual(run!.reason, { code: 'soonest-of-cold', jobs: 0, latencyMs: 700, hotAbove: 0, probes: 1 })
})
