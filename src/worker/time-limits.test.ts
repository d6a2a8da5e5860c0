import assert from 'node:assert/strict'
import { mock, type TestContext, test } from 'node:test'
import { TimeLimits } from './time-limits.ts'

/** A job and a clock that only the test moves. */
function useLimit(t: TestContext, limitMs: number) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  const state = { moved: false, exceeded: [] as [number, string, unknown][] }
  const run = {
    moved: () => {
      const { moved } = state
      state.moved = false
      return moved
    },
    exceed: (message: string, how?: unknown) => void state.exceeded.push([now, message, how]),
  }
  const job = { head: { workload: 'w' }, run }
  const limits = new TimeLimits<typeof job>(
    () => limitMs,
    () => now,
  )
  const pass = (ms: number) => {
    now += ms
    mock.timers.tick(ms)
  }
  return { limits, job, state, pass }
}

test('a job that runs longer than its limit is ended with a message for the client', (t) => {
  const { limits, job, state, pass } = useLimit(t, 60_000)
  limits.start(job)
  pass(59_000)
  assert.deepEqual(state.exceeded, [])
  pass(1_000)
  assert.deepEqual(state.exceeded, [
    [60_000, 'time limit: the job ran for 60 s without an end', { status: 504 }],
  ])
})

test('pauses do not count', (t) => {
  const { limits, job, state, pass } = useLimit(t, 1_000)
  limits.start(job)
  pass(900)
  limits.pause(job)
  pass(100_000)
  limits.start(job)
  pass(99)
  assert.deepEqual(state.exceeded, [])
  pass(1)
  assert.equal(state.exceeded.length, 1)
})

test('a stream stays while data moves, and ends when none has moved for the limit', (t) => {
  const { limits, job, state, pass } = useLimit(t, 1_000)
  limits.start(job)
  for (let i = 0; i < 10; i++) {
    state.moved = true
    pass(1_000)
  }
  assert.deepEqual(state.exceeded, [])
  pass(1_000)
  assert.equal(state.exceeded.length, 1)
})

test('limits beyond the longest timer of the runtime hold, and an ended job has none', (t) => {
  const { limits, job, state, pass } = useLimit(t, 2 ** 32)
  limits.start(job)
  pass(2 ** 31)
  assert.deepEqual(state.exceeded, [])
  pass(2 ** 31)
  assert.equal(state.exceeded.length, 1)
  limits.start(job)
  limits.delete(job)
  pass(2 ** 33)
  assert.equal(state.exceeded.length, 1)
})
