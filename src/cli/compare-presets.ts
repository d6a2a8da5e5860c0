/** All presets in virtual time, each on the kind of traffic that each of the five systems was made for. */

import { ConfigError } from '../errors.ts'
import type { Money } from '../money.ts'
import { oneOf } from '../one-of.ts'
import { presetOf, presets } from '../presets/index.ts'
import { type OwnTraffic, ownTraffics, runOn } from '../simulate/own-traffic.ts'
import { presetRun } from '../simulate/preset-run.ts'
import { simulate } from '../simulate/simulate.ts'
import type { Summary } from '../simulate/summary.ts'
import { middle } from './figures.ts'
import { progressLine } from './progress.ts'
import { significant, table } from './table.ts'

export interface PresetResult {
  preset: string
  summary: Summary
  money: Money
}

export interface TrafficResult {
  traffic: OwnTraffic
  results: PresetResult[]
}

const ours = 'plimsoll'

/** The names that `--presets` gives: `all`, or some, separated by commas. */
export function namedPresets(text: string): string[] {
  if (text === 'all') return Object.keys(presets).filter((name) => name !== 'classic')
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) oneOf('--presets', name, presets)
  if (new Set(names).size < names.length) throw new ConfigError(`--presets = ${text}: names one twice`)
  return names
}

export function comparePresets(names: readonly string[], seed: number, seeds: number): TrafficResult[] {
  const line = progressLine()
  const total = ownTraffics.length * names.length * seeds
  let finished = 0
  const all = ownTraffics.map((traffic) => {
    const results = names.map((preset) => ({ preset, runs: [] as Summary[], costs: [] as Money[] }))
    for (let each = seed; each < seed + seeds; each++) {
      for (const { preset, runs, costs } of results) {
        const on = runOn(traffic, presetOf(preset).estimator?.rule, each)
        const progress = (answered: number) => {
          const part = Math.min(1, answered / on.jobs)
          line.show((finished + part) / total, `${preset} on the traffic of ${traffic.name}, seed ${each}`)
        }
        const result = simulate(presetRun(preset, { ...on, ...traffic.machine }), { progress })
        runs.push(result.summary())
        costs.push(result.money())
        finished++
      }
    }
    return {
      traffic,
      results: results.map(({ preset, runs, costs }) => ({
        ...{ preset, summary: middle(runs), money: middle(costs) },
      })),
    }
  })
  line.done()
  return all
}

export function presetsTable({ results }: TrafficResult): string {
  const rows = results.map(({ preset, summary, money }) => [
    preset,
    significant(summary.meanSlowdown),
    significant(summary.p99Slowdown),
    significant(summary.shortP99Slowdown),
    significant(summary.largestSlowdown),
    significant(money.workerHours),
    money.functionRequests > 0 ? significant(money.functionRequests) : '–',
    summary.refused > 0 ? significant(summary.refused) : '–',
  ])
  const head = ['preset', 'slowdown mean', 'p99', 'short 90 %', 'largest 1 %', 'worker-hours', 'to functions']
  return table([...head, 'not served'], rows)
}

/** How ours compares with the best of the others, on the traffic where it does worst. Undefined: it is not among them, or alone. */
export function worstOf(
  all: readonly TrafficResult[],
): { mean_slowdown_vs_best_preset: number; worker_hours_vs_best_preset: number } | undefined {
  let slowdown = 0
  let hours = 0
  for (const { results } of all) {
    const own = results.find(({ preset }) => preset === ours)
    const others = results.filter(({ preset }) => preset !== ours && preset !== 'classic')
    if (!own || others.length === 0) return undefined
    const best = Math.min(...others.map(({ summary }) => summary.meanSlowdown))
    slowdown = Math.max(slowdown, own.summary.meanSlowdown / best)
    const fewest = Math.min(...others.map(({ money }) => money.workerHours))
    hours = Math.max(hours, own.money.workerHours / fewest)
  }
  const round = (value: number) => Number(value.toFixed(3))
  return { mean_slowdown_vs_best_preset: round(slowdown), worker_hours_vs_best_preset: round(hours) }
}
