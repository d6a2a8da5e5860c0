/** The rules of the tiered system in the simulator; single decisions are tested beside the code. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import shop from '../../../workloads/shop.ts'
import { readParams } from '../../../workloads/testing/params.ts'
import { only, Trial } from '../../brain/testing/trial.ts'
import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'
import { poisson } from '../../simulate/arrivals.ts'
import type { Observer } from '../../simulate/environment.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { simulate, unitsPerSecond } from '../../simulate/simulate.ts'
import { explain } from '../../story/reasons.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import { presetOf } from '../presets.ts'

/** What happens to the nodes, by time. */
class Diary implements Observer {
  readonly roles = new Map<string, string>()
  readonly through = new Map<string, number>()
  readonly ended: { at: number; worker: string; text: string }[] = []
  readonly stayed: string[] = []
  readonly dropped: { lane: string; waitedMs: number; at: number }[] = []
  readonly launched: { at: number; text: string }[] = []
  most = 0
  #ready = 0

  observe(event: Event, actions: readonly Action[], at: number): void {
    if (event.type === 'arrived') {
      const front = event.job.front ?? 'coordinator'
      this.through.set(front, (this.through.get(front) ?? 0) + 1)
    }
    for (const action of actions) {
      if (action.type === 'assign') {
        this.roles.set(action.worker, action.role)
        this.most = Math.max(this.most, ++this.#ready)
      }
      if (action.type === 'drain') {
        this.#ready--
        this.ended.push({ at, worker: action.worker, text: explain(action.reason) })
      }
      if (action.type === 'deny') this.stayed.push(action.reason.code)
      if (action.type === 'launch') this.launched.push({ at, text: explain(action.reason) })
      if (action.type === 'answer' && action.outcome === 'dropped') {
        const { lane, waitedMs } = action.reason
        this.dropped.push({ lane: String(lane), waitedMs: Number(waitedMs), at })
      }
      if (action.type === 'run') assert.notEqual(this.roles.get(action.worker), 'front')
    }
  }
}

/** Requests of 100 ms, two of three of them browse. */
function run(perSecond: number, jobs: number) {
  let count = 0
  const work = 0.1 * unitsPerSecond
  const spec = presetRun('tiered', {
    ...{ seed: 7, jobs, arrivals: poisson(perSecond), errorSigma: 0 },
    sizes: { name: 'even', meanSeconds: 0.1, draw: () => 0.1 },
    known: () => ({ workload: 'shop', work, memoryMb: 1, lane: ++count % 3 === 0 ? 'purchase' : 'browse' }),
  })
  const diary = new Diary()
  const result = simulate(spec, { observer: diary })
  return { diary, summary: result.summary() }
}

test('TI-1 browse and purchase use one real database', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-tiered-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const asks = (params: Record<string, string>, jobId: string) =>
    shop.run(readParams(shop, params), fakeContext({ dataDir, jobId }))
  const look = async () => (await asks({ action: 'browse', search: 'kettle' }, 'look')) as unknown as Page
  const [first] = (await look()).products
  await asks({ action: 'purchase', productId: `${first!.id}`, customer: 'me' }, 'buy')
  assert.equal((await look()).products[0]!.stock, first!.stock - 1)
})

interface Page {
  products: { id: number; stock: number }[]
}

test('TI-1 each kind of request has its own lane', () => {
  assert.equal(shop.lane?.({ action: 'purchase' } as never), 'purchase')
  assert.equal(shop.lane?.({ action: 'browse' } as never), 'browse')
  const { workloads, scale } = presetOf('tiered')
  assert.deepEqual(workloads, ['shop'])
  assert.deepEqual(Object.keys(scale!.tiers!.dropAfterMs!), ['browse', 'purchase'])
})

test('TI-2 the coordinator and each front accept requests in turn, and middles process them', () => {
  // Enough load for the queues to grow while the first nodes boot, so that fronts are added.
  const { diary, summary } = run(60, 4000)
  const fronts = [...diary.roles].filter(([, role]) => role === 'front').map(([id]) => id)
  assert.ok(fronts.length > 0)
  for (const front of fronts) assert.ok((diary.through.get(front) ?? 0) > 0, front)
  assert.ok(diary.through.get('coordinator')! > 0)
  assert.equal(summary.jobs + summary.dropped, 4000)
  assert.equal(summary.refused, 0)
})

test('TI-4 at midnight it starts with two middles, and the coordinator is the front', () => {
  const { diary } = run(1, 1)
  assert.deepEqual(
    diary.launched.filter(({ at }) => at === 0).map(({ text }) => text),
    Array.from(
      { length: 2 },
      () => '3 servers are best at hour 0: 1 front, the coordinator among them, and 2 middles',
    ),
  )
})

/** The reason of the first launches of a day, for a cluster that starts at this hour. */
function startAt(hour: number) {
  const { scheduler, discipline, scale } = presetOf('tiered')
  const trial = new Trial({ scheduler, discipline, scale: scale! })
  const launches = only(trial.after(hour * 3_600_000).tick(), 'launch')
  const { servers, front, middle } = launches[0]!.reason
  return { servers, front, middle, launches: launches.length }
}

test('TI-4 three servers are best at night, six by day, nine after work', () => {
  const night = { servers: 3, front: 1, middle: 2, launches: 2 }
  const day = { servers: 6, front: 2, middle: 4, launches: 5 }
  const evening = { servers: 9, front: 3, middle: 6, launches: 8 }
  for (let hour = 0; hour < 24; hour++) {
    const expected = hour < 7 ? night : hour < 17 || hour > 21 ? day : evening
    assert.deepEqual(startAt(hour), expected, `hour ${hour}`)
  }
})

test('TI-5 long queues add nodes, at the checks and up to the maximum', () => {
  const { diary } = run(200, 4000)
  const grown = diary.launched.filter(({ at }) => at > 0)
  assert.ok(grown.length > 0)
  for (const { at, text } of grown) {
    assert.equal(at % 1500, 0)
    assert.match(text, /requests are queued for \d+ servers/)
  }
  assert.equal(diary.most, 12)
})

test('TI-6 TI-7 with few requests nodes leave, one a second, down to the minimum', () => {
  const { diary, summary } = run(1, 60)
  assert.ok(diary.ended.length > 0)
  for (const { text } of diary.ended) assert.match(text, /it asked to leave/)
  for (const [i, { at }] of diary.ended.entries()) assert.ok(i === 0 || at - diary.ended[i - 1]!.at >= 1000)
  assert.ok(diary.stayed.includes('too-few'))
  // One middle remains and still processes everything.
  assert.equal(diary.roles.size - diary.ended.length, 1)
  assert.ok(summary.jobs > 40)
})

test('TI-8 requests are dropped at the checks, purchases later than browse requests', () => {
  const { diary, summary } = run(200, 4000)
  assert.equal(summary.dropped, diary.dropped.length)
  assert.equal(summary.jobs + summary.dropped, 4000)
  for (const { lane, waitedMs, at } of diary.dropped) {
    assert.ok(waitedMs > (lane === 'browse' ? 800 : 1800), `${lane} ${waitedMs}`)
    assert.equal(at % 1500, 0)
  }
  for (const lane of ['browse', 'purchase']) assert.ok(diary.dropped.some((one) => one.lane === lane))
})

test('a time scale divides its times and nothing else', () => {
  const { scale } = presetOf('tiered', { timeScale: 10 })
  assert.deepEqual(scale!.tiers!.dropAfterMs, { browse: 80, purchase: 180 })
  assert.deepEqual(scale!.tiers!.ending!.middle, { idleMs: 200, gapMs: 70, gaps: 2 })
  assert.deepEqual([scale!.tiers!.everyMs, scale!.tiers!.endEveryMs], [150, 100])
  assert.equal(scale!.tiers!.perServer, 1.5)
})
