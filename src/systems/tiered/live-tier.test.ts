import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { type FrontStarter, LiveTier } from './live-tier.ts'
import type { Ask } from './self-ending.ts'

const ending = { idleMs: 10, gapMs: 60_000, gaps: 2 }

function tierOf(t: TestContext, role: 'front' | 'middle', front?: FrontStarter) {
  const asked = Promise.withResolvers<Ask>()
  const failed = Promise.withResolvers<Error>()
  const parts = { id: 'n', front, ask: asked.resolve, failed: failed.resolve }
  const tier = new LiveTier({ role, settings: ending }, parts)
  t.after(() => tier.close())
  // The tier's timers do not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))
  return { tier, asked: asked.promise, failed: failed.promise }
}

test('TI-6 a middle without requests asks to leave', async (t) => {
  const { asked } = tierOf(t, 'middle')
  const { why, ms } = await asked
  assert.equal(why, 'idle')
  assert.ok(ms > 10)
})

test('TI-6 a middle asks only when it has finished its requests', async (t) => {
  const { tier, asked } = tierOf(t, 'middle')
  const first = tier.begin()
  const second = tier.begin()
  let early = false
  void asked.then(() => {
    early = true
  })
  first()
  // Another tier with the same rule has asked by now.
  await tierOf(t, 'middle').asked
  await tierOf(t, 'middle').asked
  assert.equal(early, false)
  second()
  assert.equal((await asked).why, 'idle')
})

test('TI-6 a front counts idle time once it listens, and stops accepting when it drains', async (t) => {
  const begun = Promise.withResolvers<Parameters<FrontStarter>>()
  let left = false
  const { tier, asked } = tierOf(t, 'front', async (...given) => {
    begun.resolve(given)
    await once(given[1], 'abort')
    left = true
  })
  const [id, , { listening }] = await begun.promise
  assert.equal(id, 'n')
  let early = false
  void asked.then(() => {
    early = true
  })
  await tierOf(t, 'middle').asked
  assert.equal(early, false, 'it does not listen yet')
  listening()
  assert.equal((await asked).why, 'idle')
  await tier.close()
  assert.ok(left)
})

test('a node that cannot be a front fails', async (t) => {
  assert.match((await tierOf(t, 'front').failed).message, /cannot be a front/)
  const broken = tierOf(t, 'front', () => Promise.reject(new Error('no port')))
  assert.equal((await broken.failed).message, 'no port')
})
