/** The preset tiered live: roles, fronts on one port, the cache, scaling, and dropped requests. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { partsOf } from '../../src/cli/cluster/preset.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { problemOf, until, useLive } from '../support/live.ts'

const preset = presetOf('tiered')
const shop = join(import.meta.dirname, '..', '..', 'workloads', 'shop.ts')

/** Six servers at any hour. Idle times are longer, for slow machines, and nodes may leave in quick succession. */
const ending = {
  front: { ...preset.scale!.tiers!.ending!.front, idleMs: 3000 },
  middle: { ...preset.scale!.tiers!.ending!.middle, idleMs: 4000 },
}
const hours = Array.from({ length: 24 }, () => 6)
const tiers = { ...preset.scale!.tiers, hours, endEveryMs: 50, ending }
const live = useLive({
  ...partsOf(preset),
  ...{ files: [shop], min: 1, max: 7, queue: 1000 },
  scale: { ...preset.scale!, tiers },
})

/** On its own connection, so that any front may get it. */
function browse(page: number): Promise<Response> {
  return fetch(`${live.url}/shop?action=browse&page=${page}`, { headers: { connection: 'close' } })
}

test('TI-2 TI-4 live: six servers are two fronts, the coordinator among them, and four middles', async () => {
  // On a slow machine the first nodes may leave before the last one joins, so that all that ever joined count.
  const roles = new Map<string, string>()
  const joined = () => {
    for (const { id, role } of live.state().workers) if (role !== undefined) roles.set(id, role)
    return live.state().booting.length === 0 && roles.size >= 5
  }
  await until(joined, 'all nodes have joined')
  assert.deepEqual([...roles.values()].toSorted(), ['front', 'middle', 'middle', 'middle', 'middle'])
  await until(() => live.state().fronts.every(({ state }) => state === 'ready'), 'the fronts listen')
  let page = 0
  const all = () => live.state().fronts.every(({ accepted }) => accepted > 0)
  for (const began = performance.now(); !all() && performance.now() - began < 15_000; ) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => browse(++page)))
    for (const answer of answers) assert.equal(answer.status, 200, await answer.text())
  }
  assert.ok(all(), 'one front received no request')
  assert.equal(live.state().counters.results, page)
})

test('TI-3 a repeated browse request is answered from the cache, a purchase is not', async () => {
  let hit: Response | undefined
  for (const began = performance.now(); !hit && performance.now() - began < 15_000; ) {
    const answer = await browse(200)
    const text = await answer.text()
    if (answer.headers.get('plimsoll-cache') === 'hit') hit = answer
    assert.equal(answer.status, 200, text)
  }
  assert.ok(hit, 'no front had it in its cache')
  const params = { action: 'purchase', productId: 7, customer: 'me' }
  const buy = async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${live.url}/shop`, { method: 'POST', headers, body: JSON.stringify(params) })
    return ((await answer.json()) as { orderId: number }).orderId
  }
  assert.notEqual(await buy(), await buy())
})

test('TI-6 TI-7 without requests nodes leave, until one middle and the coordinator remain', async () => {
  await until(() => live.state().workers.length === 1, 'one node is left')
  const { workers, fronts, scaling } = live.state()
  assert.equal(workers[0]!.role, 'middle')
  assert.deepEqual(
    fronts.map(({ id }) => id),
    ['main'],
  )
  assert.equal(scaling['ends allowed'], 4)
  // The last node asks too.
  const before = Number(scaling['ends refused'])
  await until(() => Number(live.state().scaling['ends refused']) > before, 'its request to leave is denied')
})

test('TI-5 TI-8 many requests at once add nodes, and requests that wait too long are dropped', async () => {
  const before = live.state().counters
  const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => browse(1000 + i)))
  let dropped = 0
  for (const answer of answers) {
    if (answer.status === 200) await answer.arrayBuffer()
    else {
      const problem = await problemOf(answer, 503)
      assert.equal(problem.code, 'dropped')
      assert.match(problem.detail, /browse requests are dropped after 800 ms/)
      dropped++
    }
  }
  const { counters, steps } = live.state()
  assert.ok(dropped > 0)
  assert.equal(counters.dropped - before.dropped, dropped)
  assert.equal(counters.refused, 0)
  assert.ok(steps.some(({ change, text }) => change === 'launch' && /requests are queued/.test(text)))
  await until(() => live.state().workers.length > 1, 'the fleet has grown')
})

test('a killed front is replaced, and requests at others are served', async () => {
  // No node may leave during this test.
  const busy = { over: false }
  const load = (async () => {
    for (let page = 0; !busy.over; page++) {
      const answer = await browse(2000 + page).catch(() => undefined)
      await answer?.arrayBuffer().catch(() => {})
    }
  })()
  const front = () => live.state().workers.find(({ role, state }) => role === 'front' && state === 'ready')
  await until(front, 'a front exists')
  const { id, pid } = front()!
  process.kill(pid!, 'SIGKILL')
  await until(() => !live.state().workers.some((worker) => worker.id === id), 'the node is declared lost')
  await until(() => !live.state().fronts.some((one) => one.id === id), 'its front is removed')
  busy.over = true
  await load
  assert.equal((await browse(3)).status, 200)
})
