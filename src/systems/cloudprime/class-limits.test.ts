import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answers, only, sent, Trial } from '../../brain/testing/trial.ts'

const [intermediate, max] = [161_751_155, 1_272_110_814]
const graceMs = 180_000
const roomy = { slots: 1000 }

/** A cluster of two workers and up to ten launches; the test polls CPU. */
function trialOf({ most = 10, limits = {} } = {}): Trial {
  const trial = new Trial({
    scheduler: 'class-limits',
    scale: { min: 0, max: most },
    limits: { bootMs: 600_000, backoffMs: 1000, cpuEveryMs: 75_000, ...limits },
  })
  for (const id of ['a', 'b']) trial.joins(id, roomy)
  return trial
}

/** This many jobs arrive, named by a prefix and a number. */
function arrive(trial: Trial, letter: string, count: number, work: number) {
  const from = only(trial.history, 'run').length + only(trial.history, 'wait').length
  return Array.from({ length: count }, (_, i) => trial.arrives(`${letter}${from + i}`, { work })).flat()
}

/** Sets the CPU share of a worker since the previous poll. */
function busy(trial: Trial, shares: Record<string, number>): void {
  const report = (worker: string, cpuMs: number) =>
    trial.tell({ type: 'reported', worker, seq: ++seq, held: heldBy(trial, worker), cpuMs })
  for (const id of Object.keys(shares)) report(id, 0)
  trial.after(75_000)
  for (const [id, share] of Object.entries(shares)) report(id, share * 75_000)
  trial.tick()
}

let seq = 1000
const heldBy = (trial: Trial, worker: string) =>
  trial.view.workers.find(({ id }) => id === worker)!.jobs.map(({ job }) => trial.held(job))

const on = (trial: Trial, worker: string) => trial.view.workers.find(({ id }) => id === worker)?.figures
const launches = (trial: Trial) => only(trial.history, 'launch').map(({ launch }) => launch)
const later = (trial: Trial, ms: number) => trial.after(ms).tick()

/** Both workers are at the limit of the largest class. */
function fullOfMax(options?: Parameters<typeof trialOf>[0]): Trial {
  const trial = trialOf(options)
  arrive(trial, 'm', 20, max)
  return trial
}

test('CP-8 a short request goes at once to the worker with the fewest requests, however busy', () => {
  const trial = trialOf()
  busy(trial, { a: 1, b: 1 })
  trial.arrives('s1', { work: 1 })
  trial.arrives('s2', { work: 1 })
  trial.arrives('s3', { work: 1 })
  trial.finishes('s2')
  trial.arrives('s4', { work: intermediate - 1 })
  assert.deepEqual(sent(trial.history), ['s1 a', 's2 b', 's3 a', 's4 b'])
  const full = fullOfMax()
  assert.equal(sent(arrive(full, 's', 30, 1)).length, 30)
})

test('CP-9 a worker above 75 % CPU takes only short requests', () => {
  const trial = trialOf()
  busy(trial, { a: 0.76, b: 0.75 })
  assert.deepEqual(sent(trial.arrives('i', { work: intermediate })), ['i b'])
  assert.deepEqual(sent(trial.arrives('s', { work: 1 })), ['s a'])
  trial.finishes('s')
  busy(trial, { a: 0.2, b: 0.2 })
  assert.deepEqual(sent(trial.arrives('j', { work: intermediate })), ['j a'])
})

test('CP-9 a worker has at most 10 MAX, and none beside INTERMEDIATE', () => {
  const trial = trialOf()
  trial.arrives('i', { work: intermediate })
  assert.deepEqual(new Set(sent(arrive(trial, 'm', 10, max)).map((run) => run.at(-1))), new Set(['b']))
  assert.deepEqual(on(trial, 'b'), { requests: 10, max: 10, intermediate: 0 })
  assert.deepEqual(sent(trial.arrives('more', { work: max })), [])
  trial.finishes('i')
  assert.deepEqual(sent(trial.arrives('next', { work: max })), ['next a'])
})

test('CP-9 a worker has at most 20 INTERMEDIATE, and none beside MAX', () => {
  const trial = trialOf()
  trial.arrives('m', { work: max })
  const placed = sent(arrive(trial, 'i', 21, intermediate))
  assert.equal(placed.length, 20)
  assert.ok(placed.every((run) => run.endsWith(' b')))
  trial.finishes('m')
  assert.deepEqual(sent(trial.arrives('next', { work: intermediate })), ['next a'])
})

test('CP-10 a request that fits nowhere starts a worker, waits the grace period and is sent there', () => {
  const trial = fullOfMax()
  const [launch] = only(trial.arrives('starter', { work: max }), 'launch')
  assert.equal(launch!.reason.code, 'misfit')
  trial.after(150_000).joins('c', roomy, { launch: launch!.launch })
  // Other requests may arrive there first, and room elsewhere changes nothing.
  for (const id of ['m0', 'm1']) trial.finishes(id)
  trial.arrives('short', { work: 1 })
  assert.deepEqual(sent(later(trial, 29_999)), [])
  assert.deepEqual(sent(later(trial, 1)), ['starter c'])
})

test('CP-10 while a worker is being started, others queue for the grace period and are placed again', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  trial.after(60_000)
  assert.deepEqual(only(trial.arrives('second', { work: max }), 'launch'), [])
  trial.after(90_000).joins('c', roomy, { launch: launches(trial)[0]! })
  // Booted, and still in its grace period: requests that fit are sent there, others queue.
  assert.deepEqual(sent(trial.arrives('third', { work: max })), ['third c'])
  assert.deepEqual(only(trial.arrives('other', { work: intermediate }), 'launch'), [])
  assert.deepEqual(sent(later(trial, 30_000)), ['starter c'])
  assert.deepEqual(sent(later(trial, 59_999)), [])
  assert.deepEqual(sent(later(trial, 1)), ['second c'])
  // The request that still fits nowhere starts a worker.
  later(trial, 90_000)
  assert.equal(launches(trial).length, 2)
})

test('CP-10 a worker reserves a place for the request that started it, against both classes', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  trial.after(150_000).joins('c', roomy, { launch: launches(trial)[0]! })
  assert.deepEqual(sent(trial.arrives('i', { work: intermediate })), [])
  assert.equal(sent(arrive(trial, 'n', 12, max)).length, 9)
  assert.equal(on(trial, 'c')!.keptFor, 'starter')
  assert.deepEqual(sent(later(trial, 30_000)), ['starter c'])
  assert.equal(on(trial, 'c')!.max, 10)
  // The client of another starter disconnects, and its place is free again.
  const next = fullOfMax()
  next.arrives('starter', { work: max })
  next.after(150_000).joins('c', roomy, { launch: launches(next)[0]! })
  next.tell({ type: 'cancelled', job: 'starter' })
  assert.deepEqual(sent(next.arrives('i', { work: intermediate })), ['i c'])
})

test('CP-10 if the launch fails, the next request may start one, and the starter is placed again after its grace period', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  trial.after(1000).tell({ type: 'launch-failed', launch: launches(trial)[0]! })
  assert.deepEqual(only(trial.arrives('pausing', { work: max }), 'launch'), [])
  trial.after(1000).arrives('second', { work: max })
  assert.equal(launches(trial).length, 2)
  trial.after(150_000).joins('c', roomy, { launch: launches(trial)[1]! })
  assert.deepEqual(sent(later(trial, 28_000)), ['starter c'])
})

test('CP-10 the same holds if the worker is lost during the grace period', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  trial.after(150_000).joins('c', roomy, { launch: launches(trial)[0]! })
  trial.tell({ type: 'lost', worker: 'c' })
  const [again] = only(later(trial, 30_000), 'launch')
  trial.after(graceMs).joins('d', roomy, { launch: again!.launch })
  assert.deepEqual(sent(trial.tick()), ['starter d'])
})

test('CP-10 a worker that boots for longer than the grace period gets its starter when it joins', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  assert.deepEqual(sent(later(trial, graceMs)), [])
  assert.equal(launches(trial).length, 1)
  assert.deepEqual(sent(trial.after(5000).joins('c', roomy, { launch: launches(trial)[0]! })), ['starter c'])
})

test('CP-10 a starter that its worker cannot take goes to another', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  trial.after(150_000).joins('c', { slots: 1 }, { launch: launches(trial)[0]! })
  trial.arrives('short', { work: 1 })
  trial.finishes('m0')
  assert.deepEqual(sent(later(trial, 30_000)), ['starter a'])
})

test('CP-10 at the maximum, requests that fit nowhere are placed again after each grace period, and none is lost', () => {
  const trial = fullOfMax({ most: 2 })
  arrive(trial, 'w', 30, max)
  assert.equal(launches(trial).length, 0)
  for (let i = 0; i < 20; i++) trial.finishes(`m${i}`)
  assert.deepEqual(sent(later(trial, graceMs - 1)), [])
  assert.equal(sent(later(trial, 1)).length, 20)
  for (const { job } of only(trial.history, 'run').slice(20)) trial.finishes(job)
  later(trial, graceMs)
  assert.equal(trial.view.waiting.length, 0)
})

test('CP-11 when 20 requests queue, the 21st starts another worker and the count returns to 0', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  const counts: number[] = []
  for (let i = 1; i <= 42; i++) {
    trial.after(1).arrives(`q${i}`, { work: max })
    if (counts.length < launches(trial).length - 1) counts.push(i)
  }
  assert.deepEqual(counts, [21, 42])
})

test('CP-11 requests that left the queue are not counted', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  arrive(trial, 'q', 20, max)
  for (const id of trial.view.waiting.slice(-5)) trial.tell({ type: 'cancelled', job: id })
  assert.deepEqual(only(arrive(trial, 'r', 5, max), 'launch'), [])
  assert.equal(only(arrive(trial, 'r', 1, max), 'launch').length, 1)
})

test('CP-11 the 21st request starts a worker though another joins during its grace period', () => {
  const trial = fullOfMax()
  trial.arrives('starter', { work: max })
  arrive(trial, 'q', 20, max)
  trial.after(150_000).joins('c', roomy, { launch: launches(trial)[0]! })
  assert.equal(on(trial, 'c')!.keptFor, 'starter')
  assert.equal(sent(arrive(trial, 'r', 10, max)).length, 9)
  assert.equal(launches(trial).length, 2)
  assert.ok(sent(later(trial, 30_000)).includes('starter c'))
})

test('a short request takes the first free slot, however many larger ones are queued before it', () => {
  const trial = new Trial({ scheduler: 'class-limits', scale: { min: 0, max: 1 } })
  trial.joins('a', { slots: 10 })
  arrive(trial, 'm', 10, max)
  arrive(trial, 'w', 200, max)
  trial.arrives('short', { work: 1 })
  assert.deepEqual(sent(trial.finishes('m0')), ['short a'])
  assert.deepEqual(answers(trial.history), ['m0 result finished'])
})
