/** EcoWork@Cloud, rule by rule: workloads, meter and estimates. More tests are beside the code. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import compress from '../../../workloads/compress.ts'
import foxes from '../../../workloads/foxes-rabbits.ts'
import { encodePng } from '../../../workloads/images/png-encode.ts'
import war from '../../../workloads/insect-war.ts'
import { fakeBody } from '../../../workloads/testing/body.ts'
import { readParams } from '../../../workloads/testing/params.ts'
import { photo } from '../../../workloads/testing/pictures.ts'
import { question } from '../../estimate/testing/question.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { workOf } from '../../model/metrics.ts'
import { fakeContext } from '../../workload/fake-context.ts'
import { presetOf } from '../presets.ts'
import { ecoworkRows } from './rows.ts'
import { slopeStore } from './slope-store.ts'

test('EW-1 foxes and rabbits in a world and a scenario, a war of two armies, and a picture in another format', async () => {
  const run = async (
    workload: typeof foxes | typeof war | typeof compress,
    params: object,
    body?: Uint8Array,
  ) =>
    workload.run(
      readParams(workload as typeof foxes, params) as never,
      fakeContext(body ? { body: fakeBody(body) } : {}),
    )
  for (const [world, scenario] of [
    [1, 1],
    [1, 3],
    [2, 2],
  ]) {
    const told = (await run(foxes, { world, scenario, generations: 5 })) as { samples: unknown[] }
    assert.equal(told.samples.length, 6)
  }
  const told = (await run(war, { rounds: 5, army1: 20, army2: 30 })) as { rounds: number }
  assert.equal(told.rounds, 5)
  const png = encodePng(photo(40, 30), 6, () => {})
  for (const format of ['png', 'jpeg', 'bmp']) {
    const answer = (await run(compress, { format, quality: 0.4 }, png)) as { contentType: string }
    assert.equal(answer.contentType, `image/${format}`)
  }
})

test('EW-2 work is instructions and memory accesses, so that loads and stores count twice', () => {
  const { meter } = presetOf('ecowork')
  assert.ok(meter && meter !== 'off')
  assert.equal(
    workOf({ instructions: 100, fieldLoads: 20, stores: 3, blocks: 50, stackLoads: 60 }, meter.formula),
    123,
  )
})

const habitat = (key: string, generations: number) =>
  question({ habitat: key, generations }, { workload: 'foxes-rabbits' })

test('EW-2 measurements are stored every 15 s, and only changes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const ledger = memoryLedger()
  const writes: string[] = []
  const { writeEveryMs } = presetOf('ecowork').estimator!
  const store = slopeStore(
    {
      ...{ flush: () => ledger.flush(), snapshots: (workload) => ledger.snapshots(workload) },
      saveSnapshot(snapshot) {
        writes.push(snapshot.workload)
        ledger.saveSnapshot(snapshot)
      },
    },
    writeEveryMs!,
    assert.fail,
  )
  const tick = async (ms: number) => {
    t.mock.timers.tick(ms)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.after(() => store.close())
  assert.equal(writeEveryMs, 15_000)
  const rule = store.rule('foxes-rabbits')
  rule.learn(habitat('1:1', 100), 1000)
  rule.learn(habitat('1:1', 200), 3000)
  await tick(14_999)
  assert.deepEqual([writes, rule.guess(habitat('1:1', 50))], [[], undefined])
  await tick(1)
  assert.deepEqual(writes, ['foxes-rabbits'])
  assert.equal(rule.guess(habitat('1:1', 50))?.value, 1000)
  const stored = { key: '1:1', minX: 100, minWork: 1000, maxX: 200, maxWork: 3000, metric: 20 }
  assert.deepEqual(await ecoworkRows(ledger, 'foxes-rabbits'), [stored])
  rule.learn(habitat('1:1', 150), 9_999_999)
  await tick(15_000)
  assert.equal(writes.length, 1)
  rule.learn(habitat('1:1', 300), 5000)
  await tick(15_000)
  assert.equal(writes.length, 2)
})

test('EW-10 tables are read again before they are written, so that another process loses nothing', async () => {
  const ledger = memoryLedger()
  const [ours, theirs] = [slopeStore(ledger, 1e9, assert.fail), slopeStore(ledger, 1e9, assert.fail)]
  const learn = (store: typeof ours, x: number, work: number) =>
    store.rule('foxes-rabbits').learn(habitat('4:3', x), work)
  learn(ours, 100, 1000)
  await ours.update()
  learn(theirs, 10, 400)
  learn(theirs, 300, 9000)
  await theirs.update()
  // Within the ends that the other stored, so that it changes nothing.
  learn(ours, 200, 77_777)
  await ours.update()
  const stored = { key: '4:3', minX: 10, minWork: 400, maxX: 300, maxWork: 9000, metric: 8600 / 290 }
  assert.deepEqual(await ecoworkRows(ledger, 'foxes-rabbits'), [stored])
  for (const store of [ours, theirs])
    assert.equal(store.rule('foxes-rabbits').guess(habitat('4:3', 290))?.value, 8600)
  learn(ours, 500, 20_000)
  await ours.update()
  assert.equal((await ecoworkRows(ledger, 'foxes-rabbits'))[0]?.minX, 10)
  await Promise.all([ours.close(), theirs.close()])
})

test('EW-10 measurements of a table that cannot be read stay pending', async () => {
  const ledger = memoryLedger()
  const lines: string[] = []
  let reads = 0
  const snapshots = async (workload: string) => {
    if (reads++ === 0) throw new Error('busy')
    return ledger.snapshots(workload)
  }
  const store = slopeStore(
    { flush: async () => {}, snapshots, saveSnapshot: (each) => ledger.saveSnapshot(each) },
    1e9,
    (line) => lines.push(line),
  )
  store.rule('foxes-rabbits').learn(habitat('1:1', 10), 500)
  await store.update()
  assert.deepEqual(lines, ['estimate: slopes of foxes-rabbits not updated: busy'])
  assert.equal(store.rule('foxes-rabbits').guess(habitat('1:1', 20)), undefined)
  await store.update()
  assert.equal(store.rule('foxes-rabbits').guess(habitat('1:1', 20))?.value, 1000)
  await store.close()
})

test('EW-3 a restart begins with the stored ends and slope', async () => {
  const ledger = memoryLedger()
  const [first, second] = [slopeStore(ledger, 1e9, assert.fail), slopeStore(ledger, 1e9, assert.fail)]
  first.rule('foxes-rabbits').learn(habitat('2:1', 10), 500)
  first.rule('foxes-rabbits').learn(habitat('2:1', 30), 900)
  await first.close()
  for (const snapshot of await ledger.snapshots('foxes-rabbits')) second.restore(snapshot)
  assert.equal(second.rule('foxes-rabbits').guess(habitat('2:1', 100))?.value, 2000)
  // An x between the ends changes nothing.
  second.rule('foxes-rabbits').learn(habitat('2:1', 20), 123_456)
  await second.update()
  assert.equal(second.rule('foxes-rabbits').guess(habitat('2:1', 100))?.value, 2000)
  await second.close()
})

test('EW-4 each workload has its own table and keys', async () => {
  const ledger = memoryLedger()
  const store = slopeStore(ledger, 1e9, assert.fail)
  const asked = {
    'foxes-rabbits': habitat('3:2', 10),
    'insect-war': question(
      { insectRounds: 900 },
      { workload: 'insect-war', params: { army1: 10, army2: 80 } },
    ),
    compress: question({ output: 'jpeg', quality: 0.66, pixels: 400 }, { workload: 'compress' }),
  }
  for (const [workload, about] of Object.entries(asked)) store.rule(workload).learn(about, 70)
  await store.close()
  const keys = Object.keys(asked).map(async (workload) =>
    (await ecoworkRows(ledger, workload)).map(({ key, minX, metric }) => [key, minX, metric * minX]),
  )
  assert.deepEqual(await Promise.all(keys), [[['3:2', 10, 70]], [['<=8', 900, 70]], [['jpeg:0.7', 400, 70]]])
})
