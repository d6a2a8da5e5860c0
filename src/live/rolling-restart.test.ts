import assert from 'node:assert/strict'
import test from 'node:test'
import type { RestartStep } from '../admin/restart.ts'
import type { VersionChange } from './change-version.ts'
import { restarter } from './rolling-restart.ts'

/** A cluster of two workers; `spare` is what happens to each spare worker. */
function twoWorkers(spare: 'admitted' | 'unwanted' | 'lost' | 'refused') {
  const workers = ['a', 'b']
  const drained: string[] = []
  let count = 0
  const restart = restarter({
    epoch: 1,
    bootMs: 1000,
    fleet: {
      prepare: async () => {
        if (spare === 'refused') throw new Error('worker 1-r1: refused')
      },
      drop: () => spare === 'unwanted',
      release() {},
      hasSpare: () => false,
      list: async () => workers.map((launch) => ({ launch, since: 0 })),
    },
    workers: () => workers.map((id) => ({ id, launch: id })),
    booting: () => [],
    isThere: (worker) => workers.includes(worker),
    drain(worker) {
      drained.push(worker)
      workers.splice(workers.indexOf(worker), 1)
      if (spare === 'admitted') workers.push(`new${++count}`)
    },
    async *rollFronts() {},
    newVersion: async () => undefined,
    log() {},
  })
  const run = async () => {
    const steps: RestartStep[] = []
    for await (const step of restart({ fronts: false, workers: true })) steps.push(step)
    return steps
  }
  return { drained, run }
}

test('each worker is replaced by a spare one, or drained if no replacement is wanted', async () => {
  assert.deepEqual(await twoWorkers('admitted').run(), [
    { worker: 'a', by: 'new1' },
    { worker: 'b', by: 'new2' },
  ])
  assert.deepEqual(await twoWorkers('unwanted').run(), [{ worker: 'a' }, { worker: 'b' }])
})

test('a restart stops before it drains anything if the spare worker does not join', async () => {
  const { drained, run } = twoWorkers('refused')
  await assert.rejects(run(), /worker a stays, because its replacement failed: worker 1-r1: refused/)
  assert.deepEqual(drained, [])
  await assert.rejects(run(), /worker 1-r1: refused/, 'another restart may be tried')
})

test('a restart stops if a drained worker was not replaced', async () => {
  const { drained, run } = twoWorkers('lost')
  await assert.rejects(run(), /worker a drains, and its replacement has not joined/)
  assert.deepEqual(drained, ['a'])
})

test('files that go back to the served version after a refused one are reported once', async () => {
  const lines: string[] = []
  let isBroken = true
  const restart = restarter({
    ...{
      epoch: 1,
      bootMs: 1000,
      workers: () => [],
      booting: () => [],
      isThere: () => false,
      drain() {},
      log: (line) => lines.push(line),
    },
    fleet: {
      prepare: async () => {},
      ...{ drop: () => false, release() {}, hasSpare: () => false, list: async () => [] },
    },
    async *rollFronts() {},
    newVersion: async () => (isBroken ? brokenVersion : undefined),
  })
  const run = async () => {
    for await (const _ of restart({ fronts: true, workers: true, ifChanged: true }));
  }
  await assert.rejects(run(), /the new version is refused, and nothing has changed: no workload/)
  isBroken = false
  await run()
  await run()
  assert.deepEqual(lines.slice(1), ['restart: the files are again those of the version that is served'])
})

const brokenVersion: VersionChange = {
  isTried: true,
  tryOut: () => ({ load: () => Promise.reject(new Error('no workload')), end() {} }),
  ...{ load: async () => {}, begin() {}, retire: async () => {}, serve() {}, finish() {} },
}
