/** Live learning: costs of a workload without declared features, restarts, and damaged ledgers. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { after } from 'node:test'
import type { QuoteDocument } from '../../src/estimate/quote.ts'
import { type Random, stream } from '../../src/lib/random.ts'
import { type Live, startLive, stopLive, until } from '../support/live.ts'

const files = [join(import.meta.dirname, '..', 'fixtures', 'puzzle.ts')]
const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-learning-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

const random = stream(1, 'puzzles')

/** No two requests are equal. */
function puzzle(random: Random): string {
  const methods = ['scan', 'scan', 'pairs', 'pairs', 'triples'] as const
  const method = methods[random.below(methods.length)]!
  const longest = { scan: 5000, pairs: 2000, triples: 200 }[method]
  const letters = Math.ceil(10 * (longest / 10) ** random.next())
  const tiles = Array.from({ length: random.below(30) }, () => ({ colour: 'red', size: random.below(9) }))
  const text = Array.from({ length: letters }, () => String.fromCharCode(97 + random.below(26))).join('')
  return JSON.stringify({
    text,
    method,
    board: { tiles, rounds: random.below(5000) },
    label: `${random.below(1e9)}`,
  })
}

async function post(live: Live, path: string, body: string): Promise<Response> {
  const answer = await fetch(live.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(answer.status, 200, answer.ok ? '' : await answer.text())
  return answer
}

const quoteOf = async (live: Live, body: string) =>
  (await (await post(live, '/-/estimate/puzzle', body)).json()) as QuoteDocument

/** The median, over new requests, of the larger of quoted ÷ actual and actual ÷ quoted. */
async function medianError(live: Live, requests: number): Promise<number> {
  const errors: number[] = []
  for (let i = 0; i < requests; i++) {
    const body = puzzle(random)
    const { work, low, high, source } = await quoteOf(live, body)
    assert.equal(source, 'model')
    assert.ok(low <= work && work <= high)
    const answer = await post(live, '/puzzle', body)
    await answer.arrayBuffer()
    const actual = Number(answer.headers.get('plimsoll-work'))
    errors.push(Math.max(work / actual, actual / work))
  }
  return errors.sort((a, b) => a - b)[requests >> 1]!
}

async function withCluster(run: (live: Live) => Promise<void>): Promise<void> {
  const live = await startLive({ files, dataDir })
  try {
    await run(live)
  } finally {
    await stopLive(live)
  }
}

test('costs of nested parameters, texts and methods are learned within 200 requests, without declared features', () =>
  withCluster(async (live) => {
    for (let i = 0; i < 200; i++) await (await post(live, '/puzzle', puzzle(random))).arrayBuffer()
    const asked = puzzle(random)
    await until(
      async () => Number((await quoteOf(live, asked)).reason.rows) >= 150,
      'a model of most of them',
    )
    const error = await medianError(live, 60)
    assert.ok(error <= 1.25, `${error}`)
  }))

test('after a restart everything learned is available at once', () =>
  withCluster(async (live) => {
    const error = await medianError(live, 30)
    assert.ok(error <= 1.25, `${error}`)
  }))

test('corrupt rows break neither the start nor the estimates', async () => {
  const file = new DatabaseSync(join(dataDir, 'ledger.db'))
  const [row] = file.prepare('SELECT * FROM jobs ORDER BY endedAt DESC LIMIT 1').all()
  const columns = Object.keys(row!)
  const insert = file.prepare(
    `INSERT INTO jobs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const poison: Record<string, string | number>[] = [
    { work: -1 },
    { work: 0, cpuMs: -5 },
    { work: 1e300 },
    { work: Number(row!.work) * 1e6 },
    { features: '{' },
    { features: '[1,2]' },
    { features: '{"text.length":{}}' },
    { parameters: 'nothing', features: 'null' },
    { peakMemoryMb: -7, codeHash: '' },
  ]
  for (const [i, wrong] of poison.entries()) {
    const bad = {
      ...row!,
      job: `poison-${i}`,
      key: `poison-${i}`,
      endedAt: Number(row!.endedAt) + 1 + i,
      ...wrong,
    }
    insert.run(...columns.map((column) => (bad as Record<string, string | number>)[column]!))
  }
  file.exec(
    'UPDATE snapshots SET json = \'{"version":1,"model":{"weights":[null]}}\' WHERE name = \'memory\'',
  )
  file.close()
  await withCluster(async (live) => {
    const asked = puzzle(random)
    await until(async () => (await quoteOf(live, asked)).source === 'model', 'a model')
    const error = await medianError(live, 30)
    assert.ok(error <= 1.3, `${error}`)
  })
})

test('a truncated ledger is set aside, and the cluster starts with a new one', async () => {
  truncateSync(join(dataDir, 'ledger.db'), 5000)
  for (const name of readdirSync(dataDir)) if (/ledger\.db-(wal|shm)$/.test(name)) rmSync(join(dataDir, name))
  await withCluster(async (live) => {
    await (await post(live, '/puzzle', puzzle(random))).arrayBuffer()
    assert.ok(live.lines.some((line) => line.startsWith('ledger: ')))
    assert.ok(readdirSync(dataDir).some((name) => name.includes('damaged')))
  })
})
