/** Results as tables: one per fleet and distribution of sizes, with a row per contender. */

import { duration, significant, table } from '../../src/cli/terminal/table.ts'
import { type FleetName, fleets, loads, type SizesName } from './plan.ts'
import { everyone, type Results } from './results.ts'

const described: Record<SizesName, string> = {
  pareto: 'bounded Pareto α 1.1, 10 ms to 600 s',
  lognormal: 'lognormal μ −2, σ 2',
  azure: 'the Azure Functions trace of 2019, arrivals scaled in time to the load',
}
const limit = { contender: 'limit', sigma: 0 }

export function tables(results: Results): string {
  const parts: string[] = []
  for (const fleet of Object.keys(fleets) as FleetName[])
    for (const sizes of Object.keys(described) as SizesName[]) {
      const rows = rowsOf(results, fleet, sizes)
      if (rows.length > 0) parts.push(`${fleet} cores, ${described[sizes]}\n\n${table(head, rows, [0, 1])}\n`)
    }
  return parts.join('\n')
}

const [first, ...others] = loads.map((load) => String(load))
const head = [
  'policy',
  'σ',
  `p99 at ${first}`,
  ...others,
  `÷ limit at ${first}`,
  ...others,
  'mean',
  'largest 1 %',
  'worst',
]

function rowsOf(results: Results, fleet: FleetName, sizes: SizesName): string[][] {
  return everyone
    .filter((who) => loads.some((load) => results.has(who, { fleet, sizes, load })))
    .map((who) => {
      const at = (load: number) => ({ fleet, sizes, load })
      const p99 = (load: number) => significant(results.figure(who, at(load), 'p99Slowdown'))
      const toLimit = (load: number) => ratio(results.ratio(who, limit, at(load), 'meanResponseMs'))
      return [
        who.contender,
        who.sigma === 0 ? '' : String(who.sigma),
        ...loads.map(p99),
        ...loads.map(toLimit),
        duration(results.figure(who, at(0.9), 'meanResponseMs')),
        significant(results.figure(who, at(0.9), 'largestSlowdown')),
        significant(results.figure(who, at(0.9), 'maxSlowdown')),
      ]
    })
}

/** Ratios near 1 need a third decimal. */
function ratio(value: number): string {
  return value < 2 ? value.toFixed(3) : significant(value)
}
