/** Which attempts run when their precedence changes, on real slots. */

import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { disciplines } from '../model/discipline.ts'
import type { AttemptHead, FromWorker } from '../wire/messages.ts'
import type { JobPool } from './job-pool.ts'
import type { JobRun } from './job-run.ts'
import { usePool } from './slots/testing/use-pool.ts'
import { type AcceptedAttempt, Supervisor } from './supervisor.ts'

const first = { tier: 0, until: 1e18, due: 0 }

/** A supervisor with one core; `work` is the estimate of each job. */
async function useSupervisor(t: TestContext) {
  const { pool } = await usePool(t)
  const supervisor = new Supervisor(
    { pool, meter: 'off', cores: 1, slots: 4, send: () => {} },
    disciplines.srpt,
  )
  const tokenOf = (job: string) => ({ epoch: 1, job, attempt: 1 })
  const take = (job: string, workload: string, work: number, more: Partial<AttemptHead> = {}) => {
    const head = { ...tokenOf(job), workload, params: {}, work, preemptible: true, ask: false, ...more }
    const attempt = supervisor.take(head, undefined)
    assert.ok(!('refused' in attempt))
    return attempt
  }
  return { supervisor, take, tokenOf }
}

async function answered({ answer }: AcceptedAttempt): Promise<string> {
  const result = await answer
  assert.equal(result.kind, 'result')
  return result.kind === 'result' ? text(result.body) : ''
}

test('a precedence that arrives before its attempt applies when the attempt arrives', async (t) => {
  const { supervisor, take, tokenOf } = await useSupervisor(t)
  // It never ends, and always has the shortest estimate.
  const endless = take('endless', 'spin', 1)
  supervisor.rank(tokenOf('longer'), first)
  const waits = take('waits', 'kinds', 1e15, { params: { kind: 'text' } })
  const longer = take('longer', 'kinds', 1e15, { params: { kind: 'text' } })
  const order: string[] = []
  const both = [
    answered(longer).then(() => order.push('longer')),
    answered(waits).then(() => order.push('waits')),
  ]
  await both[0]
  // The precedence of an accepted attempt applies at once.
  supervisor.rank(tokenOf('waits'), first)
  await both[1]
  assert.deepEqual(order, ['longer', 'waits'])
  endless.cancel()
  assert.deepEqual(await endless.answer, { kind: 'cancelled' })
})

test('a precedence sent with the attempt applies until its amount of work is done', async (t) => {
  const { supervisor, take, tokenOf } = await useSupervisor(t)
  const endless = take('endless', 'spin', 1)
  const turn = take('turn', 'spin', 1e15, { precedence: { tier: 0, until: 20_000, due: 0 } })
  // Ranks after jobs with an earlier turn, and before all others when their turn has ended.
  const next = take('next', 'kinds', 1e15, {
    params: { kind: 'text' },
    precedence: { tier: 0, until: 1e18, due: 1 },
  })
  assert.equal(await answered(next), 'hällo')
  const held = supervisor.report().find(({ job }) => job === 'turn')
  assert.ok(held)
  supervisor.cancel(tokenOf('turn'))
  const { cpuMs } = await turn.usage
  assert.ok(cpuMs >= 20, `${cpuMs} ms of CPU time`)
  endless.cancel()
  await endless.usage
})

/** A job that has a core, according to its worker, but does no work: other programs use the core. */
function stuckRun(): JobRun {
  const never = new Promise<never>(() => {})
  return {
    ...{
      answer: never,
      ended: never,
      paused: false,
      interruptible: true,
      progress: undefined,
      pid: undefined,
    },
    ...{ pause() {}, resume() {}, cancel() {}, exceed() {} },
    cpuMs: () => 0,
    moved: () => false,
    work: () => undefined,
  }
}

test('the brain learns that a job is not done when it should be', async () => {
  const sent = Promise.withResolvers<FromWorker>()
  const pool = { ready: async () => {}, size: 1, start: stuckRun } as unknown as JobPool
  const supervisor = new Supervisor(
    { pool, meter: 'off', cores: 1, slots: 4, send: sent.resolve },
    disciplines.srpt,
  )
  const token = { epoch: 1, job: 'stuck', attempt: 1 }
  // Far below what a nominal core does in a millisecond.
  supervisor.take(
    { ...token, workload: 'any', params: {}, work: 1, preemptible: true, ask: false },
    undefined,
  )
  assert.deepEqual(await sent.promise, { type: 'progress', ...token, done: 0 })
})
