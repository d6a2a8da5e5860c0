/** Results as tables: one per traffic and boot time, with a row per contender. */

import { significant, table } from '../../src/cli/terminal/table.ts'
import { keeps } from './results.ts'
import type { Contender, Figures, Run } from './run.ts'
import type { TrafficName } from './traffic.ts'

export interface Row {
  contender: Contender
  figures: Figures
}

const head = [
  'fleet',
  'worker-hours',
  '÷ first',
  'short p99',
  'largest 1 %',
  'promise',
  'reversals',
  'launches',
  'most',
]

export function tableOf(traffic: TrafficName, bootMs: number, rows: readonly Row[]): string {
  const first = rows[0]!.figures.workerHours
  const lines = rows.map(({ contender, figures }) => [
    nameOf(contender),
    figures.workerHours.toFixed(1),
    (figures.workerHours / first).toFixed(3),
    significant(figures.shortP99Slowdown),
    significant(figures.largestSlowdown),
    keeps(figures) ? 'kept' : 'broken',
    String(Math.round(figures.reversals)),
    String(Math.round(figures.launches)),
    String(figures.peak),
  ])
  return `${described(traffic)}, boot ${bootMs / 1000} s\n\n${table(head, lines)}\n`
}

export function nameOf({ scheduler, scale, peak, clairvoyant }: Contender): string {
  if (peak) return `fixed at its peak + ${scheduler}`
  if (clairvoyant) return `clairvoyant (× ${clairvoyant.factor}) + ${scheduler}`
  return `${scale.policy}${scale.target === undefined ? '' : ` ${scale.target}`} + ${scheduler}`
}

export function said({ traffic, bootMs, seed, ...contender }: Run): string {
  return `${traffic}, boot ${bootMs / 1000} s, seed ${seed}: ${nameOf(contender)}`
}

function described(traffic: TrafficName): string {
  if (traffic === 'daily')
    return 'A daily cycle with a flash crowd at noon (four times the rate within 30 s, for 10 min)'
  if (traffic === 'functions') return 'The Azure Functions trace of 2019'
  if (traffic === 'llm') return 'The Azure LLM trace of 2023, tokens as work'
  return `World Cup, ${traffic}`
}
