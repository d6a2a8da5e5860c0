import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { usualPrices } from '../../model/prices.ts'
import type { Summary } from '../../simulate/summary.ts'
import {
  comparePresets,
  namedPresets,
  namedTraffics,
  presetsTable,
  type TrafficResult,
  worstOf,
} from './compare-presets.ts'
import { showPresets } from './show-presets.ts'

test('every preset serves the traffic of each system, deterministically', async () => {
  const run = () =>
    Array.fromAsync(comparePresets(namedPresets('all'), { seed: 1, seeds: 1, hours: 0.004, recorded: false }))
  const all = await run()
  assert.deepEqual(
    all.map(({ traffic }) => traffic.name),
    ['cloudprime', 'tiered', 'cnv', 'hillclimbing', 'ecowork'],
  )
  for (const { results } of all) {
    assert.deepEqual(results.map(({ preset }) => preset).sort(), [
      'cloudprime',
      'cnv',
      'ecowork',
      'envoy-p2c',
      'haproxy-leastconn',
      'hillclimbing',
      'knative',
      'nginx',
      'plimsoll',
      'plimsoll',
      'prequal',
      'tiered',
    ])
    const served = results.map(({ summary }) => summary.jobs + summary.refused + summary.dropped)
    assert.equal(new Set(served).size, 1)
    assert.ok(served[0]! > 0)
  }
  assert.deepEqual((await run()).map(presetsTable), all.map(presetsTable))
})

test('with a price of workers, the table says what each preset has spent', async () => {
  const prices = { ...usualPrices, workerHour: 2 }
  const asked = { seed: 1, seeds: 1, hours: 0.004, recorded: false, prices }
  for await (const result of comparePresets(['cnv'], asked)) {
    const { money } = result.results[0]!
    assert.ok(Math.abs(money.spent - 2 * money.workerHours - money.functions) < 1e-9)
    assert.match(presetsTable(result), /worker-hours +spent +to functions/)
  }
})

test('rejects unknown presets', () => {
  assert.throws(
    () => namedPresets('plimsoll,nosuch'),
    /--presets = nosuch: must be one of all, systems, peers, plimsoll, /,
  )
  assert.throws(() => namedPresets('cnv,cnv'), /contains a name twice/)
  assert.deepEqual(namedPresets('cnv, plimsoll'), ['cnv', 'plimsoll'])
  assert.deepEqual(namedPresets('classic,peers').slice(0, 3), ['classic', 'plimsoll', 'nginx'])
})

/** Preset, promise, mean, p99, hours, and rejections per thousand. */
type Row = [string, number | undefined, number, number, number, number]

function resultOf(...rows: Row[]): TrafficResult {
  const results = rows.map(([preset, promise, meanSlowdown, p99Slowdown, workerHours, refused]) => ({
    preset,
    ...(promise && { promise }),
    summary: { jobs: 1000 - refused, refused, dropped: 0, meanSlowdown, p99Slowdown } as Summary,
    money: { workerHours } as TrafficResult['results'][number]['money'],
  }))
  return { results, records: [] } as unknown as TrafficResult
}

test('the worst traffic counts, and presets that reject many requests do not', () => {
  const good = resultOf(
    ['plimsoll', undefined, 1, 1.2, 9, 0],
    ['plimsoll', 3, 1.2, 2, 6, 0],
    ['cnv', undefined, 2, 3, 10, 10],
    ['ecowork', undefined, 3, 9, 5, 0],
    ['tiered', undefined, 1, 1, 1, 200],
  )
  assert.deepEqual(worstOf([good]), { mean_slowdown_vs_best_preset: 0.6, worker_hours_vs_best_preset: 0.6 })
  const worse = resultOf(['plimsoll', 3, 1.8, 2, 8, 0], ['cnv', undefined, 2, 3, 10, 0])
  assert.deepEqual(worstOf([good, worse]), {
    mean_slowdown_vs_best_preset: 0.9,
    worker_hours_vs_best_preset: 0.8,
  })
  const slower = resultOf(['plimsoll', 3, 1, 4, 5, 0], ['cnv', undefined, 2, 3, 10, 0])
  assert.equal(worstOf([slower])!.worker_hours_vs_best_preset, Infinity)
  assert.equal(worstOf([resultOf(['cnv', undefined, 2, 3, 10, 0])]), undefined)
})

test('a report has plots for each traffic', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-presets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const report = join(folder, 'presets.html')
  t.mock.method(console, 'log', () => {})
  const asked = { seed: 1, seeds: 1, hours: 0.02, prices: usualPrices, json: false, report }
  assert.equal(await showPresets('plimsoll,cnv', asked, ['compare', '--presets', 'plimsoll,cnv']), 0)
  const page = readFileSync(report, 'utf8')
  assert.equal(page.match(/<h1>Presets on the traffic of /g)?.length, 5)
  assert.ok(page.includes('plimsoll compare --presets plimsoll,cnv'))
})

test('presets are compared on the traffic of the named systems', async () => {
  const traffics = namedTraffics('hillclimbing, cnv')
  const runs = { seed: 1, seeds: 1, hours: 0.004, recorded: false, traffics }
  const all = await Array.fromAsync(comparePresets(['nginx'], runs))
  assert.deepEqual(
    all.map(({ traffic }) => traffic.name),
    ['hillclimbing', 'cnv'],
  )
  assert.equal(namedTraffics(undefined).length, 5)
  assert.throws(() => namedTraffics('nginx'), /--traffic = nginx: must be one of cloudprime, tiered, cnv/)
  assert.throws(() => namedTraffics('cnv,cnv'), /--traffic = cnv,cnv: contains a name twice/)
})
