/**
 * Compares scheduling policies in virtual time on the same jobs, and with a theoretical limit. When run directly, `--only`
 * selects runs: `node bench/schedule.ts --only 2x2,0.9,srpt,limit,σ2`.
 */

import { parseArgs } from 'node:util'
import { progressLine } from '../src/cli/terminal/progress.ts'
import type { Summary } from '../src/simulate/summary.ts'
import type { BenchOptions } from './options.ts'
import { headline } from './schedule/headline.ts'
import { contenders, fleets, loads, type Only, plan, type Run } from './schedule/plan.ts'
import { Results } from './schedule/results.ts'
import { tables } from './schedule/tables.ts'
import { azureTrace, traceFile } from './schedule/trace.ts'
import { runAll } from './threads.ts'

export async function schedule({ quick }: BenchOptions, only?: Only): Promise<Record<string, unknown>> {
  const runs = plan(quick, only)
  const line = progressLine()
  const began = performance.now()
  let tenths = 0
  const script = new URL('./schedule/run.ts', import.meta.url)
  const summaries = await runAll<Run, Summary>(script, runs, (count) => {
    const done = Math.floor((10 * count) / runs.length)
    if (done > tenths && !process.stderr.isTTY) console.error(`${done * 10} %`)
    tenths = done
    const { contender, fleet, sizes, load, seed } = runs[count - 1]!
    line.show(count / runs.length, `seed ${seed}, ${fleet}, ${sizes}, load ${load}, ${contender}`)
  })
  line.done()
  const seconds = (performance.now() - began) / 1000
  const results = new Results()
  for (const [i, run] of runs.entries()) results.add(run, summaries[i]!)
  const jobs = runs.reduce((sum, run) => sum + run.jobs, 0)

  console.log(tables(results))
  const seeds = Math.max(...runs.map(({ seed }) => seed))
  console.log(
    `p99: p99 of the slowdown (response time ÷ time alone on a core), by load. ÷ limit: mean response time ÷ that of the\n` +
      `limit (one pool of all cores, known sizes, free migration, least remaining work first), by load. The last three\n` +
      `columns at load 0.9: mean response time, mean slowdown of the largest 1 %, largest slowdown. σ: lognormal error of\n` +
      `estimates; policies without σ do not use estimates. shortest-first: one queue, no preemption. Medians of ${seeds} seed${seeds > 1 ? 's' : ''}\n` +
      `(fewer on the trace, where seeds affect only errors and randomized policies); ratios are on the same jobs.`,
  )
  if (!azureTrace()) console.log(`The Azure Functions trace was not found (${traceFile}) and is left out.`)
  console.log(`${(jobs / 1e6).toFixed(1)} million jobs in ${seconds.toFixed(0)} s.\n`)
  return headline(results)
}

/** Words that name a fleet restrict the fleets, words that name a load the loads, and so on. */
function selection(words: readonly string[]): Only {
  const dimensions = {
    contender: contenders.map(({ name }) => name),
    fleet: Object.keys(fleets),
    sizes: ['pareto', 'lognormal', 'azure'],
    load: loads.map(String),
    sigma: contenders.flatMap(({ sigmas }) => sigmas.map((sigma) => `σ${sigma}`)),
  }
  const known = new Set(Object.values(dimensions).flat())
  const unknown = words.find((word) => !known.has(word))
  if (unknown !== undefined) throw new Error(`--only = ${unknown}: must be one of ${[...known].join(', ')}`)
  const asked = (names: readonly string[]) => words.filter((word) => names.includes(word))
  const wanted = (names: readonly string[], name: string) =>
    asked(names).length === 0 || asked(names).includes(name)
  return (run) =>
    wanted(dimensions.contender, run.contender) &&
    wanted(dimensions.fleet, run.fleet) &&
    wanted(dimensions.sizes, run.sizes) &&
    wanted(dimensions.load, String(run.load)) &&
    (run.sigma === 0 || wanted(dimensions.sigma, `σ${run.sigma}`))
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
  })
  // Accepts x for ×, which few keyboards have.
  const words = values.only.split(',').map((word) => word.replace(/^(\d+)x(\d+)$/, '$1×$2'))
  console.log(
    JSON.stringify(await schedule({ quick: values.quick }, selection(words.filter((word) => word !== '')))),
  )
}
