/**
 * Scheduling policies in virtual time, all on the same jobs, beside the limit that none can pass. Run by itself it takes
 * `--only WORD,…`, and runs no more than what has one of these words in each place where they differ:
 * `node bench/schedule.ts --only 2×2,0.9,srpt,limit`.
 */

import { parseArgs } from 'node:util'
import { progressLine } from '../src/cli/progress.ts'
import type { BenchOptions } from './options.ts'
import { headline } from './schedule/headline.ts'
import { contenders, fleets, loads, type Only, plan, sigmas } from './schedule/plan.ts'
import { Results } from './schedule/results.ts'
import { tables } from './schedule/tables.ts'
import { runAll } from './schedule/threads.ts'
import { azureTrace, traceFile } from './schedule/trace.ts'

export async function schedule({ quick }: BenchOptions, only?: Only): Promise<Record<string, unknown>> {
  const runs = plan(quick, only)
  const line = progressLine()
  const began = performance.now()
  const summaries = await runAll(runs, (count) => {
    const { contender, fleet, sizes, load, seed } = runs[count - 1]!
    line.show(count / runs.length, `seed ${seed}, ${fleet}, ${sizes}, load ${load}, ${contender}`)
  })
  line.done()
  const seconds = (performance.now() - began) / 1000
  const results = new Results()
  for (const [i, run] of runs.entries()) results.add(run, summaries[i]!)
  const jobs = runs.reduce((sum, run) => sum + run.jobs, 0)

  console.log(tables(results))
  console.log(
    `Slowdown: time in the system ÷ time alone on a core. p99: of slowdown, by load. mean ÷ limit: mean time in the\n` +
      `system, by load, ÷ that under the limit: all cores one pool, sizes known, moving free, the least work left first.\n` +
      `On the right at load 0.9: mean time in the system, mean slowdown of the largest 1 %, largest slowdown of all.\n` +
      `σ: estimates are off by a lognormal factor; where there is none, the policy does not ask. shortest first: one\n` +
      `queue, no preemption. Medians of ${Math.max(...runs.map(({ seed }) => seed))} seeds (the trace: of fewer, only errors and draws differ); ratios on the same jobs.`,
  )
  if (!azureTrace()) console.log(`The Azure Functions trace is not there (${traceFile}): left out.`)
  console.log(`${millions(jobs)} million jobs in ${seconds.toFixed(0)} s.\n`)
  return headline(results)
}

function millions(count: number): string {
  return (count / 1e6).toFixed(1)
}

/** Words that name a fleet narrow the fleets, those that name a load the loads, and so on. */
function onlyThose(words: readonly string[]): Only {
  const dimensions = {
    contender: contenders.map(({ name }) => name),
    fleet: Object.keys(fleets),
    sizes: ['pareto', 'lognormal', 'azure'],
    load: loads.map(String),
    sigma: sigmas.map((sigma) => `σ${sigma}`),
  }
  const known = Object.values(dimensions).flat()
  const unknown = words.find((word) => !known.includes(word))
  if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${known.join(', ')}`)
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
  const words = values.only.split(',').filter((word) => word !== '')
  console.log(JSON.stringify(await schedule({ quick: values.quick }, onlyThose(words))))
}
