/** Runs all presets in virtual time on the traffic of each of the five systems. */

import { ConfigError } from '../../lib/errors.ts'
import { oneOf } from '../../lib/one-of.ts'
import { type Prices, usualPrices } from '../../model/prices.ts'
import { jobsOf, loadTraffic, type OwnTraffic, ownTraffics, runOn } from '../../simulate/own-traffic.ts'
import { presetRun } from '../../simulate/preset-run.ts'
import { PolicyRecord } from '../../simulate/report/record.ts'
import { simulateLearning } from '../../simulate/simulate.ts'
import type { Summary } from '../../simulate/summary.ts'
import type { Money } from '../../story/money.ts'
import { presetGroups, presetOf, presets } from '../../systems/presets.ts'
import { progressLine } from '../terminal/progress.ts'
import { significant, table } from '../terminal/table.ts'
import { middle } from './figures.ts'

export interface PresetResult {
  preset: string
  /** A promise other than the default, for our own preset. */
  promise?: number
  summary: Summary
  money: Money
}

export interface TrafficResult {
  traffic: OwnTraffic
  results: PresetResult[]
  /** Undefined: no report was asked for. */
  records: PolicyRecord[]
}

interface PresetRuns {
  seed: number
  seeds: number
  hours: number
  recorded: boolean
  /** Default: those of all systems. */
  traffics?: readonly OwnTraffic[]
  /** Default: the usual ones. */
  prices?: Prices
}

const ours = 'plimsoll'
/** Our preset also runs with this looser promise (the default is 1.5); no other preset keeps either. */
export const looser = 3

function promised(slowdown: number): string {
  return `shortest 90 %: slowdown at most ${slowdown} at p99; largest 1 %: at most ${slowdown} on average`
}

/** Names of presets or of groups of them, separated by commas. */
export function namedPresets(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .flatMap((name) => presetGroups[name] ?? [name])
  for (const name of names) oneOf('--presets', name, { ...presetGroups, ...presets })
  if (new Set(names).size < names.length) throw new ConfigError(`--presets = ${text}: contains a name twice`)
  return names
}

/** The traffic of the named systems. Default: of all. */
export function namedTraffics(text: string | undefined): readonly OwnTraffic[] {
  if (text === undefined) return ownTraffics
  const byName = Object.fromEntries(ownTraffics.map((traffic) => [traffic.name, traffic]))
  const names = text.split(',').map((name) => name.trim())
  if (new Set(names).size < names.length) throw new ConfigError(`--traffic = ${text}: contains a name twice`)
  return names.map((name) => oneOf('--traffic', name, byName))
}

/** Yields the results of each traffic as soon as all presets have served it. */
export async function* comparePresets(
  names: readonly string[],
  { seed, seeds, hours, recorded, traffics = ownTraffics, prices = usualPrices }: PresetRuns,
): AsyncGenerator<TrafficResult> {
  const line = progressLine()
  const total = traffics.length * names.length * seeds
  let finished = 0
  for (const whole of traffics) {
    const traffic = loadTraffic({ ...whole, hours: Math.min(hours, whole.hours) })
    const jobs = jobsOf(traffic)
    const results = names.flatMap((preset) =>
      (preset === ours ? [undefined, looser] : [undefined]).map((promise) => ({
        ...{ preset, runs: [] as Summary[], costs: [] as Money[] },
        record: new PolicyRecord(nameOf({ preset, promise }), jobs),
        ...(promise !== undefined && { promise }),
      })),
    )
    for (let each = seed; each < seed + seeds; each++) {
      for (const { preset, promise, record, runs, costs } of results) {
        const on = runOn(traffic, preset, each)
        const progress = (answered: number) => {
          const part = Math.min(1, answered / jobs)
          line.show((finished + part) / total, `${preset} on the traffic of ${traffic.name}, seed ${each}`)
        }
        const run = {
          ...{ ...on, ...traffic.machine },
          ...(promise && { promise: promised(promise) }),
          // Our preset gets the same functions as the system whose traffic this is.
          ...(preset === ours && { functions: presetOf(traffic.name).overflow?.concurrency ?? 0 }),
        }
        const hooks = { progress, ...(recorded && record.hooks(each === seed)) }
        const result = await simulateLearning({ ...presetRun(preset, run), prices }, hooks)
        runs.push(result.summary())
        costs.push(result.money())
        finished++
      }
    }
    line.done()
    yield {
      traffic,
      records: recorded ? results.map(({ record }) => record) : [],
      results: results.map(({ preset, promise, runs, costs }) => ({
        ...{ preset, summary: middle(runs), money: middle(costs) },
        ...(promise && { promise }),
      })),
    }
  }
}

function nameOf({ preset, promise }: { preset: string; promise?: number | undefined }): string {
  return promise === undefined ? preset : `${preset}, promise ${promise}`
}

export function presetsTable(result: TrafficResult): string {
  const { head, rows } = presetsCells(result)
  return table([...head], rows)
}

/** For HTML reports. */
export function presetsCells({ results }: TrafficResult): {
  head: string[]
  rows: string[][]
  words: number
} {
  const isPriced = results.some(({ money }) => money.workers > 0)
  const rows = results.map(({ preset, promise, summary, money }) => [
    nameOf({ preset, promise }),
    significant(summary.meanSlowdown),
    significant(summary.p99Slowdown),
    significant(summary.shortP99Slowdown),
    significant(summary.largestSlowdown),
    significant(money.workerHours),
    ...(isPriced ? [significant(money.spent)] : []),
    money.functionRequests > 0 ? significant(money.functionRequests) : '–',
    summary.refused + summary.dropped > 0 ? significant(summary.refused + summary.dropped) : '–',
  ])
  const slowdowns = ['slowdown mean', 'p99', 'short 90 %', 'largest 1 %']
  const bill = ['worker-hours', ...(isPriced ? ['spent'] : []), 'to functions']
  return { head: ['preset', ...slowdowns, ...bill, 'not served'], rows, words: 1 }
}

export interface Worst {
  mean_slowdown_vs_best_preset: number
  worker_hours_vs_best_preset: number
}

/**
 * Compares our preset, with the looser promise, with the best other preset on the traffic where ours does worst: mean
 * slowdown against the lowest, worker-hours against those of the preset with the lowest p99 slowdown. Presets that reject
 * more than a few requests do not count. Undefined: our preset is missing or alone.
 */
export function worstOf(all: readonly TrafficResult[]): Worst | undefined {
  let slowdown = 0
  let hours = 0
  for (const { results } of all) {
    const own = results.find(({ preset, promise }) => preset === ours && promise === looser)
    const others = results.filter(({ preset, summary }) => preset !== ours && servesMost(summary))
    const [best] = others.sort((a, b) => a.summary.p99Slowdown - b.summary.p99Slowdown)
    if (!own || !best) return undefined
    const least = Math.min(...others.map(({ summary }) => summary.meanSlowdown))
    slowdown = Math.max(slowdown, own.summary.meanSlowdown / least)
    // Fewer hours at a worse p99 are no gain.
    const isWorse = own.summary.p99Slowdown > best.summary.p99Slowdown
    hours = Math.max(hours, isWorse ? Infinity : own.money.workerHours / best.money.workerHours)
  }
  const round = (value: number) => Number(value.toFixed(3))
  return { mean_slowdown_vs_best_preset: round(slowdown), worker_hours_vs_best_preset: round(hours) }
}

/** Rejects at most one request in twenty. */
function servesMost({ jobs, refused, dropped }: Summary): boolean {
  return refused + dropped <= (jobs + refused + dropped) / 20
}
