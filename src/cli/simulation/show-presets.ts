/** Prints and writes the results of `compare --presets`: each traffic, then our preset against the best other one. */

import type { Prices } from '../../model/prices.ts'
import type { OwnTraffic } from '../../simulate/own-traffic.ts'
import { fitted } from '../terminal/width.ts'
import {
  comparePresets,
  looser,
  namedPresets,
  namedTraffics,
  presetsCells,
  presetsTable,
  type TrafficResult,
  type Worst,
  worstOf,
} from './compare-presets.ts'
import { slowdownExplained } from './figures.ts'
import { checkReportFile, writeJointReport } from './report-file.ts'

interface Asked {
  seed: number
  seeds: number
  hours: number
  traffic?: string | undefined
  /** With a price of workers, the table has a column for what was spent. */
  prices: Prices
  json: boolean
  report: string | undefined
}

/** `args`: the command line, starting with the command. */
export async function showPresets(
  names: string,
  { seed, seeds, hours, traffic, prices, json, report }: Asked,
  args: readonly string[],
): Promise<number> {
  const presets = namedPresets(names)
  const traffics = namedTraffics(traffic)
  if (report !== undefined) await checkReportFile(report)
  const all: TrafficResult[] = []
  const runs = { seed, seeds, hours, traffics, prices, recorded: report !== undefined }
  for await (const each of comparePresets(presets, runs)) {
    all.push(each)
    if (json) {
      const { name, about, load, machine } = each.traffic
      const results = each.results.map(({ summary, ...rest }) => ({ ...rest, ...summary }))
      console.log(JSON.stringify({ traffic: name, about, load, machine, results }))
    } else
      console.log(
        `${fitted(`The traffic of ${each.traffic.name}: ${words(each.traffic)}`)}\n\n${presetsTable(each)}\n`,
      )
  }
  const basis = seeds === 1 ? `Seed ${seed}` : `Medians of ${seeds} seeds, from seed ${seed} on`
  if (!json) console.log(fitted(`${basis}. ${slowdownExplained}`))
  if (report !== undefined) {
    const sections = all.map((each) => ({
      title: `Presets on the traffic of ${each.traffic.name}`,
      about: [`${words(each.traffic)}.`],
      table: presetsCells(each),
      tableCaption: `${basis}. ${slowdownExplained}`,
      ...{ records: each.records, seeds, firstSeed: seed },
    }))
    await writeJointReport(report, 'Presets', args, sections)
    if (!json) console.log(`Plots: ${report}`)
  }
  const worst = worstOf(all)
  if (worst && json) console.log(JSON.stringify(worst))
  else if (worst) console.log(fitted(worstText(worst)))
  return 0
}

function worstText({ mean_slowdown_vs_best_preset, worker_hours_vs_best_preset }: Worst): string {
  return (
    `Where plimsoll (promise ${looser}) does worst, its mean slowdown is ${mean_slowdown_vs_best_preset} times that of the best ` +
    `other preset, and its worker-hours are ${worker_hours_vs_best_preset} times those of the one with the lowest p99.`
  )
}

function words({ about, load, machine }: OwnTraffic): string {
  const cores = `${machine.cores} ${machine.cores === 1 ? 'core' : 'cores'}`
  return `${about}; mean load ${load} cores, workers of ${cores}`
}
