/** Attempts in a supervisor's hands, on real slots: which of them runs when their precedence changes. */

import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { disciplines } from '../model/discipline.ts'
import type { AttemptHead } from '../wire/messages.ts'
import { usePool } from './slots/fixtures/use-pool.ts'
import { Supervisor, type Taken } from './supervisor.ts'

const first = { tier: 0, until: 1e18, due: 0 }

/** A supervisor of one core, whose jobs are taken to need what each says. */
async function useSupervisor(t: TestContext) {
  const { pool } = await usePool(t)
  const supervisor = new Supervisor(
    { pool, meter: 'off', cores: 1, slots: 4, say: () => {} },
    disciplines.srpt,
  )
  const tokenOf = (job: string) => ({ epoch: 1, job, attempt: 1 })
  const take = (job: string, workload: string, work: number, more: Partial<AttemptHead> = {}): Taken => {
    const head = { ...tokenOf(job), workload, params: {}, work, preemptible: true, ask: false, ...more }
    const taken = supervisor.take(head, undefined)
    assert.ok(!('refused' in taken))
    return taken
  }
  return { supervisor, take, tokenOf }
}

async function answered({ answer }: Taken): Promise<string> {
  const result = await answer
  assert.equal(result.kind, 'result')
  return result.kind === 'result' ? text(result.body) : ''
}

test('a precedence that overtakes its attempt counts when the attempt comes', async (t) => {
  const { supervisor, take, tokenOf } = await useSupervisor(t)
  // It never ends, and is always taken to end sooner than the others.
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
  // And of one that is here it counts at once.
  supervisor.rank(tokenOf('waits'), first)
  await both[1]
  assert.deepEqual(order, ['longer', 'waits'])
  endless.cancel()
  assert.deepEqual(await endless.answer, { kind: 'cancelled' })
})

test('an attempt that comes with its precedence has it at once, until it has done so much', async (t) => {
  const { supervisor, take, tokenOf } = await useSupervisor(t)
  const endless = take('endless', 'spin', 1)
  const turn = take('turn', 'spin', 1e15, { precedence: { tier: 0, until: 20_000, due: 0 } })
  // Behind those that go first, and before all others when their turn is over.
  const next = take('next', 'kinds', 1e15, {
    params: { kind: 'text' },
    precedence: { tier: 0, until: 1e18, due: 1 },
  })
  assert.equal(await answered(next), 'hällo')
  const held = supervisor.report().find(({ job }) => job === 'turn')
  assert.ok(held)
  supervisor.cancel(tokenOf('turn'))
  const { cpuMs } = await turn.usage
  assert.ok(cpuMs >= 20, `it had ${cpuMs} ms`)
  endless.cancel()
  await endless.usage
})
