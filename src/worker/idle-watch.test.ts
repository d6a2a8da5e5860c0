import assert from 'node:assert/strict'
import { mock, type TestContext, test } from 'node:test'
import { IdleWatch, isWaiting } from './idle-watch.ts'
import type { JobRun } from './job-run.ts'

const at = (ms: number, demandMs: number | undefined, runnable = false) => ({ at: ms, demandMs, runnable })

test('a running job that uses almost no time waits, unless a thread of it is in the queue for a core', () => {
  assert.equal(
    isWaiting(false, at(0, 10), at(50, 11), () => false),
    true,
  )
  assert.equal(
    isWaiting(false, at(0, 10), at(50, 11), () => true),
    false,
  )
  assert.equal(
    isWaiting(false, at(0, 10), at(50, 13), () => false),
    false,
  )
})

test('a waiting job computes when it uses a quarter of the time, or is runnable twice in a row', () => {
  assert.equal(
    isWaiting(true, at(0, 10), at(100, 40), () => false),
    false,
  )
  assert.equal(
    isWaiting(true, at(0, 10), at(100, 30), () => false),
    true,
  )
  assert.equal(
    isWaiting(true, at(0, 10), at(100, 10), () => true),
    true,
  )
  assert.equal(
    isWaiting(true, at(0, 10, true), at(100, 10), () => true),
    false,
  )
})

test('a job whose demand is not known does not wait', () => {
  assert.equal(
    isWaiting(false, at(0, undefined), at(50, 0), () => false),
    false,
  )
  assert.equal(
    isWaiting(true, at(0, 0), at(50, undefined), () => false),
    false,
  )
})

/** A job whose demand and state the test sets, and a clock that only the test moves. */
function useWatch(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  let demandMs = 0
  let samples = 0
  const changes: [number, boolean][] = []
  const state = { busy: true, runnable: false, waiting: false, changed: () => {} }
  const run = {
    demandMs: () => {
      samples++
      return demandMs
    },
    isRunnable: () => state.runnable,
  } as Partial<JobRun> as JobRun
  const job = {
    run,
    get waiting() {
      return state.waiting
    },
  }
  const watch = new IdleWatch<typeof job>(
    (_, waiting) => {
      state.waiting = waiting
      changes.push([now, waiting])
      state.changed()
    },
    () => now,
  )
  const pass = (ms: number) => {
    for (let i = 0; i < ms; i++) {
      now++
      if (state.busy) demandMs++
      mock.timers.tick(1)
    }
  }
  return { watch, job, pass, state, changes, samples: () => samples }
}

test('a job is reported when it begins to wait and when it computes again', (t) => {
  const { watch, job, pass, state, changes } = useWatch(t)
  watch.add(job)
  pass(200)
  assert.deepEqual(changes, [])
  state.busy = false
  pass(50)
  assert.deepEqual(changes, [[250, true]])
  pass(100)
  state.busy = true
  pass(50)
  assert.deepEqual(changes.length, 2)
  assert.equal(changes[1]![1], false)
})

test('a job that waits long is checked four times a second', (t) => {
  const { watch, job, pass, state, samples } = useWatch(t)
  state.busy = false
  watch.add(job)
  pass(10_000)
  const before = samples()
  pass(10_000)
  assert.equal(samples() - before, 40)
  state.busy = true
  pass(300)
  assert.equal(state.waiting, false)
})

test('a job that computes again after a long wait is checked as often as any other', (t) => {
  const { watch, job, pass, state, changes } = useWatch(t)
  state.busy = false
  watch.add(job)
  pass(10_000)
  state.busy = true
  while (state.waiting) pass(1)
  state.busy = false
  const [[computes]] = changes.slice(-1) as [[number, boolean]]
  pass(50)
  assert.deepEqual(changes.at(-1), [computes + 50, true])
})

test('a job that is paused because it begins to wait is not checked', (t) => {
  const { watch, job, pass, state, changes, samples } = useWatch(t)
  state.busy = false
  watch.add(job)
  state.changed = () => watch.remove(job)
  pass(1_000)
  assert.deepEqual([changes, samples()], [[[50, true]], 2])
})

test('a removed job is not checked', (t) => {
  const { watch, job, pass, state, changes, samples } = useWatch(t)
  watch.add(job)
  watch.add(job)
  assert.equal(samples(), 0)
  pass(10)
  assert.equal(samples(), 1)
  watch.remove(job)
  state.busy = false
  pass(1_000)
  assert.deepEqual([changes, samples()], [[], 1])
})

test('a job that is paused every few milliseconds is found to wait', (t) => {
  const { watch, job, pass, state, changes } = useWatch(t)
  state.busy = false
  for (let i = 0; i < 30 && !state.waiting; i++) {
    watch.add(job)
    pass(3)
    if (!state.waiting) watch.remove(job)
    pass(20)
  }
  assert.deepEqual(
    changes.map(([, waiting]) => waiting),
    [true],
  )
})

test('time in which a job was paused does not count as waiting', (t) => {
  const { watch, job, pass, state, changes } = useWatch(t)
  for (let i = 0; i < 30; i++) {
    state.busy = true
    watch.add(job)
    pass(3)
    watch.remove(job)
    state.busy = false
    pass(20)
  }
  assert.deepEqual(changes, [])
})
