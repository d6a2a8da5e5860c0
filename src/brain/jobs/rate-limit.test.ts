import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Action } from '../../model/action.ts'
import { only, Trial } from '../testing/trial.ts'
import { RateLimits } from './rate-limit.ts'

fc.configureGlobal({ seed: 1 })

// One unit per millisecond, and whole numbers throughout, so that all results are exact.
const burst = 1000
const rateLimit = { workPerMinute: 60_000, burst }

type Step =
  | { gap: number; client: string; work: number }
  /** One of the current jobs ends. */
  | { gap: number; which: number; how: 'finished' | 'failed' | 'crashed' | 'cancelled'; used: number }

const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 5000 }))
const work = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 3000 }))
const arrival = fc.record({ gap, client: fc.constantFrom('a', 'b'), work })
const end = fc.record({
  gap,
  which: fc.nat(),
  how: fc.constantFrom('finished', 'failed', 'crashed', 'cancelled'),
  used: work,
})
const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof({ weight: 3, arbitrary: arrival }, end), {
  maxLength: 60,
}) as fc.Arbitrary<Step[]>

/** What was asked of a client's bucket, and what was settled with it. */
interface Flow {
  at: number
  client: string
  work: number
  granted: boolean
}

interface Played {
  flows: Flow[]
  refusals: { job: string; client: string; reason: Record<string, unknown> }[]
  actions: Action[]
}

/** Runs the steps on a brain with room for all jobs. */
function play(script: readonly Step[]): Played {
  const trial = new Trial({ rateLimit, limits: { crashes: 1000, attempts: 1000 } })
  trial.joins('w', { slots: 1000, cores: 1000 })
  const open: { id: string; client: string; work: number; spent: number }[] = []
  const flows: Flow[] = []
  const refusals: Played['refusals'] = []
  for (const [i, step] of script.entries()) {
    trial.after(step.gap)
    if ('client' in step) {
      const { client, work } = step
      const id = `j${i}`
      const [refused] = only(trial.arrives(id, { client, work }), 'answer')
      if (refused) refusals.push({ job: id, client, reason: { ...refused.reason } })
      else {
        open.push({ id, client, work, spent: 0 })
        flows.push({ at: trial.now, client, work, granted: true })
      }
      continue
    }
    const at = open.length > 0 ? step.which % open.length : -1
    const job = open[at]
    if (!job) continue
    const { how, used } = step
    const token = trial.at(job.id)
    job.spent += how === 'cancelled' ? 0 : used
    if (how === 'finished') trial.tell({ type: 'finished', work: used, ...token })
    else if (how === 'cancelled') trial.tell({ type: 'cancelled', job: job.id })
    else trial.tell({ type: 'failed', kind: how === 'failed' ? 'error' : 'crash', work: used, ...token })
    if (how === 'crashed') continue
    open.splice(at, 1)
    flows.push({ at: trial.now, client: job.client, work: job.spent - job.work, granted: false })
  }
  return { flows, refusals, actions: trial.history }
}

test('over any interval a client gets no more than burst and rate allow, plus one job', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const { flows } = play(script)
      for (const client of ['a', 'b']) {
        const own = flows.filter((flow) => flow.client === client)
        for (const [first, { at: since }] of own.entries()) {
          let granted = 0
          for (const { at, work, granted: isGrant } of own.slice(first)) {
            if (isGrant) assert.ok(granted <= burst + (at - since), `${granted} in ${at - since} ms`)
            granted += work
          }
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('a client that stays below its rate is never refused, whatever another does', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const kept: { at: number; work: number }[] = []
      let now = 0
      const modest: Step[] = []
      for (const step of script) {
        now += step.gap
        if (!('client' in step) || step.client === 'b') {
          // No job needs more than predicted.
          modest.push('client' in step ? step : { ...step, how: 'cancelled' })
          continue
        }
        const within = (since: number, sum: number) => sum + step.work <= burst + (now - since)
        let sum = 0
        const fits = kept.toReversed().every(({ at, work }) => {
          sum += work
          return within(at, sum)
        })
        const isKept = fits && step.work <= burst
        if (isKept) kept.push({ at: now, work: step.work })
        modest.push(isKept ? step : { gap: step.gap, which: 0, how: 'cancelled', used: 0 })
      }
      const refused = play(modest).refusals.filter(({ client }) => client === 'a')
      assert.deepEqual(refused, [])
    }),
    { numRuns: 500 },
  )
})

test('clients do not affect each other', () => {
  fc.assert(
    fc.property(fc.array(arrival, { maxLength: 60 }), (script) => {
      const both = play(script).refusals.filter(({ client }) => client === 'a')
      const alone = script.map((step) =>
        step.client === 'a' ? step : { gap: step.gap, client: 'c', work: 0 },
      )
      assert.deepEqual(
        play(alone).refusals.filter(({ client }) => client === 'a'),
        both,
      )
    }),
    { numRuns: 200 },
  )
})

test('a refused job is accepted after `retryAfterMs`, and not before', () => {
  fc.assert(
    fc.property(fc.array(arrival, { minLength: 5, maxLength: 30 }), work, (script, wanted) => {
      const limits = new RateLimits(rateLimit)
      let now = 0
      for (const step of script) {
        now += step.gap
        limits.take('a', step.work, now)
      }
      const refusal = limits.take('a', wanted, now)
      if (!refusal) return
      const retryAfterMs = Number(refusal.retryAfterMs)
      assert.equal(limits.take('a', wanted, now + retryAfterMs - 1)?.retryAfterMs, 1)
      assert.equal(limits.take('a', wanted, now + retryAfterMs), undefined)
    }),
    { numRuns: 500 },
  )
})

test('full buckets are forgotten, and beyond a limit the buckets nearest to full', () => {
  const limits = new RateLimits(rateLimit, 3)
  for (const [i, client] of ['a', 'b', 'c', 'd', 'e'].entries()) limits.take(client, 100 * (i + 1), 0)
  const have = ['c', 'd', 'e'].map((client) => limits.take(client, 1000, 0)?.have)
  assert.deepEqual([have, limits.size], [[700, 600, 500], 3])
  limits.take('f', 1, 499)
  assert.equal(limits.size, 2)
  limits.adjust('f', -1, 499)
  assert.equal(limits.size, 1)
  limits.take('g', 0, 500)
  assert.equal(limits.size, 0)
})

test('a job of absurd size leaves a finite debt', () => {
  const limits = new RateLimits({ workPerMinute: 1e-9 })
  assert.equal(limits.take('a', 1e308, 0), undefined)
  const refusal = limits.take('a', 1, 10)
  assert.ok(Number.isFinite(refusal?.retryAfterMs) && Number.isFinite(refusal?.have))
  limits.adjust('a', -1e308, 20)
  assert.equal(limits.take('a', 1, 20), undefined)
})

test('an invalid limit is rejected', () => {
  for (const value of [0, -1, Number.NaN, Infinity]) {
    assert.throws(() => new RateLimits({ workPerMinute: value }), {
      code: 'CONFIG',
      message: `rateLimit.workPerMinute = ${value}: must be a number above 0`,
    })
    assert.throws(() => new Trial({ rateLimit: { workPerMinute: 1, burst: value } }), {
      message: `rateLimit.burst = ${value}: must be a number above 0`,
    })
  }
})
