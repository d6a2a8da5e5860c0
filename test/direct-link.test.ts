/** Small jobs over a direct link have the answers and the work of the general path. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { defaultFormula } from '../src/model/metrics.ts'
import { until } from '../src/worker/slots/testing/use-pool.ts'
import { type DirectWorld, useDirectWorld } from './support/direct-world.ts'

const small = join(import.meta.dirname, 'fixtures/small.ts')
const bundled = (name: string) => join(import.meta.dirname, '../workloads', `${name}.ts`)

async function assertSame(world: DirectWorld, workload: string, params: string): Promise<number> {
  const [expected, got] = [await world.general(workload, params), await world.direct(workload, params)]
  assert.deepEqual(got, expected, `${workload} ${params}`)
  return got.work
}

test('answers, failures and work are those of the general path', async (t) => {
  const world = await useDirectWorld(t, { files: [small] })
  const kinds = [
    'json',
    'text',
    'bytes',
    'nothing',
    'empty',
    'null',
    'created',
    'reserved',
    'latin',
    'unchanged',
  ]
  const others = ['response', 'later', 'notJson', 'throws', 'throwsText', 'refuses', 'long']
  for (const kind of [...kinds, ...others]) await assertSame(world, 'kinds', JSON.stringify({ kind }))
  const texts = [
    '{}',
    ' {"a" : "ä€😀" }',
    '{"a":1e400,"b":-0,"c":-1e-400}',
    '{"a":1,"a":2}',
    '{"__proto__":1}',
  ]
  for (const text of texts) await assertSame(world, 'echo', text)
  assert.ok((await assertSame(world, 'count', '{"n":1000}')) > 1000)
  assert.ok((await assertSame(world, 'count', '{"n":100000}')) > 100_000)
})

test('bundled workloads answer with the same bytes and the same work', async (t) => {
  const names = ['factorize', 'julia', 'dna', 'foxes-rabbits', 'shop', 'insect-war']
  const world = await useDirectWorld(t, { files: names.map(bundled) })
  // The first job creates the catalogue, and the first one in a process opens it.
  for (const ask of [world.direct, world.general]) await ask('shop', '{"action":"browse"}')
  for (const [name, params] of [
    ['factorize', { n: '1234567891' }],
    ['julia', { width: 16, height: 16, iterations: 20 }],
    ['dna', { length: 2000 }],
    ['foxes-rabbits', { world: 1, generations: 2 }],
    ['insect-war', { rounds: 2, red: 10, black: 10 }],
    ['shop', { action: 'browse', pageSize: 3 }],
    ['shop', { action: 'browse', pageSize: 1000 }],
  ] as const) {
    await assertSame(world, name, JSON.stringify(params))
  }
})

test('tallies and quantities are those of the general path', async (t) => {
  const quantities = [{ name: 'stores', header: 'x-stores', metrics: ['stores'] as const }]
  const world = await useDirectWorld(t, {
    files: [small],
    meter: { mode: 'regions', formula: defaultFormula, quantities },
  })
  await assertSame(world, 'count', '{"n":100}')
  const got = await world.call('count', '{"n":100}')
  assert.ok(got.outcome === 'result' && got.tally!.blocks! > 0)
})

test('with the meter off, work is CPU time', async (t) => {
  const { call } = await useDirectWorld(t, { files: [small], meter: 'off' })
  const got = await call('count', '{"n":3000000}')
  assert.ok(got.outcome === 'result')
  assert.ok(got.cpuMs > 0 && got.work === Math.round(got.cpuMs * 1000))
})

test('many jobs at once are all answered, in slots for each core', async (t) => {
  const { link, door, newLink } = await useDirectWorld(t, { files: [small], cores: 2 })
  const other = newLink()
  const wrong: unknown[] = []
  await new Promise<void>((resolve) => {
    let left = 2_000
    for (let i = 0; i < 1_000; i++) {
      for (const each of [link, other]) {
        each.call({ workload: 'echo', params: `{"i":${i}}`, job: `j${i}` }, (answer) => {
          const body = answer.outcome === 'result' ? JSON.parse(answer.body.toString()) : answer
          if (body.params?.i !== i || body.jobId !== `j${i}`) wrong.push(body)
          if (--left === 0) resolve()
        })
      }
    }
    assert.equal(link.pending, 1_000)
  })
  // The worker keeps a bounded number of jobs waiting.
  assert.ok(wrong.every((each) => (each as { reason?: string }).reason === 'busy'))
  assert.deepEqual([link.pending, door.jobs.size], [0, 0])
  assert.ok(door.jobs.demandMs() > 0)
})

test('jobs of one slot share its process, and each starts when the last one has really ended', async (t) => {
  const { call } = await useDirectWorld(t, { files: [small] })
  const bodies = async (workload: string) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(workload)))
    return answers.map((answer) => answer.outcome === 'result' && JSON.parse(answer.body.toString()))
  }
  const pids = await bodies('pid')
  assert.equal(new Set(pids.map(({ pid }) => pid)).size, 1)
  assert.deepEqual(
    pids.map(({ runs }) => runs),
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
  assert.ok((await bodies('ticks')).every(({ wasBusy }) => !wasBusy))
})

test('a slot without jobs is ended, and another one starts for the next job', async (t) => {
  const { call, pool } = await useDirectWorld(t, { files: [small], limits: { idleMs: 20 } })
  const pidOf = async () => {
    const answer = await call('pid')
    assert.ok(answer.outcome === 'result')
    return JSON.parse(answer.body.toString()).pid as number
  }
  const first = await pidOf()
  await until(() => pool.size === 1, 'only the warm slot is left')
  assert.notEqual(await pidOf(), first)
})
