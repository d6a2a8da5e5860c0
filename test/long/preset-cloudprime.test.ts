/** The preset cloudprime live: rows and ranks, status, and scaling. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { partsOf } from '../../src/cli/cluster/preset.ts'
import { askedRows } from '../../src/cli/cluster/preset-rows.ts'
import type { QuoteDocument } from '../../src/estimate/quote.ts'
import { workOf } from '../../src/model/metrics.ts'
import { type CloudPrimeRow, cloudPrimeRow } from '../../src/systems/cloudprime/rows.ts'
import type { Preset } from '../../src/systems/preset.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { type Live, startLive, stopLive, until, untilIdle } from '../support/live.ts'
import { until as untilSo } from '../support/processes.ts'

const files = [join(import.meta.dirname, '..', '..', 'workloads', 'factorize.ts')]

async function begin(t: TestContext, preset: Preset): Promise<Live> {
  const { min, max } = preset.scale!
  const live = await startLive({
    ...partsOf(preset),
    ...{ files, min, max, scale: preset.scale!, meter: preset.meter!, slots: preset.slots! },
  })
  t.after(() => stopLive(live))
  await until(() => live.state().ready === min, `${min} workers are ready`)
  return live
}

async function factors(live: Live, n: string): Promise<string[]> {
  const answer = await fetch(`${live.url}/factorize?n=${n}`)
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { factors: string[] }).factors
}

async function quoteOf(live: Live, n: string): Promise<QuoteDocument> {
  await live.ledger.flush()
  return (await fetch(`${live.url}/-/estimate/factorize?n=${n}`)).json() as Promise<QuoteDocument>
}

const [small, large] = ['999985999949', '1000000000000000000000007']

test('CP-1 to CP-6 live: POST and GET, the rank of the row, metrics while it runs, and the next estimate', async (t) => {
  const preset = presetOf('cloudprime', { workScale: 1000 })
  const live = await begin(t, preset)
  const { reason: unknown, work: itself } = await quoteOf(live, small)
  assert.deepEqual([unknown.code, itself], ['the-number-itself', 999_985_999_949])

  const answer = await fetch(`${live.url}/factorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ n: Number(small) }),
  })
  const rank = Number(answer.headers.get('plimsoll-work'))
  assert.deepEqual(await answer.json(), { n: small, factors: ['999983', '1000003'] })
  await live.ledger.flush()
  const { codeHash } = (await live.ledger.recent({ workload: 'factorize', limit: 1 }))[0]!
  const rowOf = async (n: string) => {
    const row = await live.ledger.metricsFor({ workload: 'factorize', codeHash, parameters: `{"n":"${n}"}` })
    return row && cloudPrimeRow(row)
  }
  const row = (await rowOf(small))!
  assert.deepEqual([row.parameter, row.running, row.rank], [small, false, rank])
  const { basicBlocks: blocks, instructions, fieldLoads, stackLoads } = row
  assert.ok(preset.meter && preset.meter !== 'off')
  const computed = workOf({ blocks, instructions, fieldLoads, stackLoads }, preset.meter.formula)
  assert.ok(Math.abs(computed - rank) <= 1 && blocks > 0 && stackLoads > 0)
  const known = await quoteOf(live, small)
  assert.deepEqual([known.reason.code, known.work], ['rank-known', rank])
  const ranks = join(live.dataDir, 'ranks.jsonl')
  await until(
    () =>
      existsSync(ranks) &&
      readFileSync(ranks, 'utf8').endsWith(`"rank":${rank}}
`),
    'the row is stored',
  )

  const client = new AbortController()
  const long = fetch(`${live.url}/factorize?n=${large}`, { signal: client.signal })
  const seen = new Set<number>()
  let last: Awaited<ReturnType<typeof rowOf>>
  for (; seen.size < 3; last = await rowOf(large)) if (last) seen.add(last.basicBlocks)
  assert.equal(last!.running, true)
  const holder = live.state().workers.find(({ jobs }) => jobs.length > 0)!
  assert.equal(last!.instanceId, holder.id)
  assert.deepEqual(holder.figures, { requests: 1, max: 1, intermediate: 0, lowCpuFor: 0 })
  assert.ok(holder.pid! > 0)
  const asked = { data: live.dataDir, admin: live.adminUrl, tokenFile: undefined }
  const { factorize } = await askedRows('cloudprime', asked, 10)
  assert.deepEqual(
    (factorize as CloudPrimeRow[]).map(({ parameter, running: isRunning }) => [parameter, isRunning]),
    [
      [large, true],
      [small, false],
    ],
  )
  const running = await quoteOf(live, large)
  assert.deepEqual([running.reason.code, running.work], ['still-running', 1_272_110_814 / 1000])
  client.abort()
  await assert.rejects(long)
  await untilIdle(live)
})

test('CP-10 to CP-16 live: a misfit starts a worker, a dead one is replaced, and one with low CPU ends', {
  timeout: 240_000,
}, async (t) => {
  const usual = presetOf('cloudprime', { timeScale: 60, workScale: 1000 })
  const live = await begin(t, {
    ...usual,
    placing: { classes: { ...usual.placing!.classes!, mostMax: 1 } },
  })
  const numbers = ['12000000670000009', '12000009470000207', '12000015070000333']
  const steps = () => live.state().steps
  const soon = (change: string, code: string) =>
    untilSo(
      `${change} ${code}`,
      () => steps().some((step) => step.change === change && step.reason.code === code),
      60_000,
    )
  const isRight = async (answer: Promise<string[]>) => assert.match((await answer)[0]!, /^30000\d{3}$/)

  const asked = numbers.map((n) => isRight(factors(live, n)))
  await soon('launch', 'misfit')
  await Promise.all(asked)
  await soon('removed', 'low-cpu')

  const again = isRight(factors(live, numbers[0]!))
  await until(() => live.state().placed === 1, 'a worker runs it')
  process.kill(live.state().workers.find(({ jobs }) => jobs.length > 0)!.pid!, 'SIGKILL')
  await again
  assert.ok(live.state().counters.retries >= 1)
  await soon('lost', 'pings')
  await untilSo('two workers', () => live.state().ready === 2, 60_000)
  t.diagnostic(
    steps()
      .map(({ text }) => text)
      .join('\n'),
  )
})
