import assert from 'node:assert/strict'
import { mock, type TestContext, test } from 'node:test'
import { CostLimits } from './cost-limits.ts'

function limited(t: TestContext, { maxCpuMs, cores = 1 }: { maxCpuMs?: number; cores?: number }) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const state = { cpuMs: 0, readings: 0, ended: [] as unknown[][] }
  const job = {
    head: { ...(maxCpuMs !== undefined && { maxCpuMs }) },
    run: {
      cpuMs() {
        state.readings++
        return state.cpuMs
      },
      exceed: (...args: unknown[]) => void state.ended.push(args),
    },
  }
  const limits = new CostLimits<typeof job>(cores)
  /** Time passes; the job uses this part of it on cores. */
  const pass = (ms: number, part = 1) => {
    for (let i = 0; i < ms; i++) {
      state.cpuMs += part
      mock.timers.tick(1)
    }
  }
  return { limits, job, state, pass }
}

test('a job that uses more CPU time than its client allows is ended, whatever time has passed', (t) => {
  const { limits, job, state, pass } = limited(t, { maxCpuMs: 1_000 })
  limits.start(job)
  pass(1_000, 0.5)
  assert.deepEqual([state.ended.length, state.cpuMs], [0, 500])
  pass(510)
  assert.deepEqual(state.ended, [
    ['cost limit: it used 1 s of CPU time, and its client allows 1 s', { kind: 'cost-limit', status: 504 }],
  ])
  assert.ok(state.readings < 20, `${state.readings} readings`)
})

test('a job with several threads is ended in time', (t) => {
  const { limits, job, state, pass } = limited(t, { maxCpuMs: 1_000, cores: 4 })
  limits.start(job)
  pass(260, 4)
  assert.equal(state.ended.length, 1)
})

test('a paused job is not read, and goes on with what is left', (t) => {
  const { limits, job, state, pass } = limited(t, { maxCpuMs: 1_000 })
  limits.start(job)
  pass(900)
  limits.stop(job)
  const { readings } = state
  pass(100_000, 0)
  assert.equal(state.readings, readings)
  limits.start(job)
  pass(90)
  assert.equal(state.ended.length, 0)
  pass(20)
  assert.equal(state.ended.length, 1)
})

test('a job without a limit is never read', (t) => {
  const { limits, job, state, pass } = limited(t, {})
  limits.start(job)
  pass(10_000)
  assert.deepEqual([state.readings, state.ended], [0, []])
})
