/** The preset cnv live: headers and rows, a function for light requests, its log, and scaling. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { partsOf } from '../../src/cli/cluster/preset.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { tableOf } from '../../src/systems/cnv/rows.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { cli, commandOf, descendants, startLive, stopLive, until, useLive } from '../support/live.ts'

/** The options of `up --preset cnv`. */
function optionsOf(scales: { timeScale: number; workScale: number }): Partial<ClusterOptions> {
  const preset = presetOf('cnv', scales)
  const { perWorkload = false, memoryMb = 512, ...brain } = preset.overflow!
  const files = preset.workloads!.map((name) =>
    join(import.meta.dirname, '..', '..', 'workloads', `${name}.ts`),
  )
  return {
    ...partsOf(preset),
    ...{ files, meter: preset.meter!, scale: preset.scale!, min: 1, max: 3, slots: 17, queue: 1000 },
    jobMemoryMb: 512,
    functions: { most: 2, command: [process.execPath, cli, 'function'], perWorkload, memoryMb, brain },
  }
}

const live = useLive({ ...optionsOf({ timeScale: 1, workScale: 1000 }), max: 1 })
after(() =>
  until(() => descendants().length === 0, `all processes have ended: ${descendants().map(commandOf)}`),
)

const count = (answer: Response, name: string) => Number(answer.headers.get(name))

test('CN-3 answers carry both quantities, which make the next estimate and the row', async () => {
  const asked = 'size=16&iterations=40'
  const answer = await fetch(`${live.url}/grayscott?${asked}`)
  assert.equal(answer.status, 200)
  const cells = 16 * 16 * Number(answer.headers.get('grayscott-iterations'))
  assert.equal(count(answer, 'X-CNV-InstCount'), cells * 274)
  assert.equal(count(answer, 'X-CNV-TotalAccesses'), cells * 62)
  await answer.arrayBuffer()
  const quote = (await (await fetch(`${live.url}/-/estimate/grayscott?${asked}`)).json()) as {
    work: number
    source: string
    reason: object
  }
  assert.deepEqual([quote.source, quote.work], ['memo', cells * 336])
  const metrics = { instCount: cells * 274, totalAccesses: cells * 62 }
  assert.deepEqual(quote.reason, { code: 'memo', repeats: 1, ...metrics })
  await live.ledger.flush()
  const [row] = tableOf(await live.ledger.recent({ workload: 'grayscott', limit: 1 }))
  assert.deepEqual([row!.type, row!.metrics], ['GRAYSCOTT', metrics])
  assert.deepEqual(row!.parameters, { size: '16', iterations: '40' })
})

test('CN-6 without capacity a LIGHT request is answered by a function of its workload', async () => {
  // By its parameters it is SUPER_HEAVY, so that the worker is full.
  const client = new AbortController()
  const long = fetch(`${live.url}/dna?mode=align&length=10000000`, { signal: client.signal })
  await until(() => live.state().placed === 1, 'the worker is busy')
  const ask = 'julia?width=2&height=2&iterations=1'
  const answer = await fetch(`${live.url}/${ask}`)
  assert.equal(answer.headers.get('plimsoll-worker'), 'function:local')
  assert.ok(count(answer, 'x-cnv-instcount') > 0)
  assert.deepEqual(
    live.state().functions.map(({ workload }) => workload),
    ['julia'],
  )
  // Functions do not take it: it waits.
  const heavy = fetch(`${live.url}/dna?mode=align&length=9999999`, { signal: client.signal })
  await until(() => live.state().waiting.length === 1, 'it is queued')
  client.abort()
  await assert.rejects(long)
  await assert.rejects(heavy)
})

test('CN-13 CN-15 each component has a log in the data folder', async () => {
  const files = ['as', 'lb', 'placement', 'queue'].map((ending) => join(live.dataDir, `cnv-${ending}.log`))
  await until(
    () => files.every((file) => readFileSync(file, 'utf8').includes('\n')),
    'each component has logged a decision',
  )
})

test('CN-11 live, with minutes as seconds, it grows under load, replaces a lost worker, and shrinks', async () => {
  const { functions: _, ...options } = optionsOf({ timeScale: 60, workScale: 10 })
  const other = await startLive({ ...options, limits: { ...options.limits, waitMs: 0 } })
  const lost: string[] = []
  let asking = true
  const client = async (n: number) => {
    while (asking) {
      const answer = fetch(`${other.url}/julia?width=300&height=${200 + n}`)
      await answer.then((it) => it.arrayBuffer()).catch(({ cause }) => asking && lost.push(String(cause)))
    }
  }
  const clients = Array.from({ length: 24 }, (_, n) => client(n))
  try {
    const { pid } = other.state().workers[0]!
    // On a busy machine the load takes longer to show in CPU readings.
    for (let tries = 0; tries < 3 && other.state().ready < 2; tries++)
      await until(() => other.state().ready > 1, 'the fleet has grown').catch(() => {})
    assert.ok(other.state().ready > 1, 'the fleet has not grown')
    process.kill(pid!, 'SIGKILL')
    await until(() => !other.state().workers.some((worker) => worker.pid === pid), 'it is evicted')
    asking = false
    await Promise.all(clients)
    const { ready, booting } = other.state()
    assert.ok(ready + booting.length <= 3)
    const { accepted, results } = other.state().counters
    assert.deepEqual([results, lost], [accepted, []])
    await until(() => other.state().ready === 1 && other.state().workers.length === 1, 'the fleet has shrunk')
  } finally {
    asking = false
    for (const { text } of other.state().steps) console.log(text)
    console.log(other.state().scaling)
    await stopLive(other)
    await Promise.all(clients)
  }
})
