/**
 * Compares scheduling policies in virtual time, on the same jobs, with the limit that none can exceed. As a separate
 * command it takes `--only`, which selects runs: `node bench/schedule.ts --only 2x2,0.9,srpt,limit,σ2`.
 */

import { parseArgs } from 'node:util'
import { progressLine } from '../src/cli/terminal/progress.ts'
import type { BenchOptions } from './options.ts'
import { headline } from './schedule/headline.ts'
import { contenders, fleets, loads, type Only, plan } from './schedule/plan.ts'
import { Results } from './schedule/results.ts'
import { tables } from './schedule/tables.ts'
import { runAll } from './schedule/threads.ts'
import { azureTrace, traceFile } from './schedule/trace.ts'

export async function schedule({ quick }: BenchOptions, only?: Only): Promise<Record<string, unknown>> {
  const runs = plan(quick, only)
  const line = progressLine()
  const began = performance.now()
  let tenths = 0
  const summaries = await runAll(runs, (count) => {
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
    `p99: of slowdown (time in the system ÷ time alone on a core), by load. ÷ limit: mean time in the system ÷ that of\n` +
      `the limit (one pool of cores, known sizes, free migration, shortest remaining first), by load. The last three at load 0.9:\n` +
      `mean time in the system, mean slowdown of the largest 1 %, largest slowdown. σ: estimates are off by a lognormal\n` +
      `factor; policies without σ use no estimates. shortest-first: one queue, no preemption. Medians of ${seeds} seed${seeds > 1 ? 's' : ''}\n` +
      `(fewer on the trace, where only errors and draws differ); ratios compare the same jobs.`,
  )
  if (!azureTrace()) console.log(`The Azure Functions trace is missing (${traceFile}) and left out.`)
  console.log(`${(jobs / 1e6).toFixed(1)} million jobs in ${seconds.toFixed(0)} s.\n`)
  return headline(results)
}

/** A run matches if each kind of word (fleet, load, …) that is given includes it. */
function onlyThose(words: readonly string[]): Only {
  const dimensions = {
    contender: contenders.map(({ name }) => name),
    fleet: Object.keys(fleets),
    sizes: ['pareto', 'lognormal', 'azure'],
    load: loads.map(String),
    sigma: contenders.flatMap(({ sigmas }) => sigmas.map((sigma) => `σ${sigma}`)),
  }
  const known = new Set(Object.values(dimensions).flat())
  const unknown = words.find((word) => !known.has(word))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: must be one of ${[...known].join(', ')}`)
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
  // Few keyboards have a multiplication sign.
  const words = values.only.split(',').map((word) => word.replace(/^(\d+)x(\d+)$/, '$1×$2'))
  console.log(
    JSON.stringify(await schedule({ quick: values.quick }, onlyThose(words.filter((word) => word !== '')))),
  )
}
