import { ConfigError } from '../errors.ts'
import { simulate } from '../simulate/simulate.ts'
import { median, type Summary } from '../simulate/summary.ts'
import { type Command, readOptions } from './options.ts'
import { progressLine } from './progress.ts'
import { contender, runSpec, scenarioOptions } from './scenario.ts'
import { duration, significant, table } from './table.ts'

const options = {
  ...scenarioOptions,
  seeds: {
    help: 'runs with different seeds, of which the median is shown',
    default: 5,
    min: 1,
    max: 1000,
    whole: true,
  },
  json: { help: 'print JSON instead of a table', default: false },
} as const

/** Several policies on the same arrivals, sizes and estimates. */
export const compare: Command = {
  summary: 'Compare policies in virtual time: every policy serves the same jobs.',
  usage: 'POLICY[:DISCIPLINE],… [options]      for example: compare least-connections,srpt --load 0.9',
  options,
  run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length !== 1)
      throw new ConfigError('compare: name the policies, for example least-connections,srpt')
    const contenders = rest[0]!.split(',').map(contender)
    const line = progressLine()
    const began = performance.now()
    const total = contenders.length * values.seeds
    const results = contenders.map((policy) => ({ policy, runs: [] as Summary[] }))
    let finished = 0
    // Seed by seed, not policy by policy, so that an interrupted comparison is still a fair one.
    for (let seed = values.seed; seed < values.seed + values.seeds; seed++) {
      for (const { policy, runs } of results) {
        const progress = (answered: number) =>
          line.show((finished + answered / values.jobs) / total, `${policy.name}, seed ${seed}`)
        runs.push(simulate(runSpec(values, policy, seed), { progress }).summary())
        finished++
      }
    }
    line.done()
    const seconds = (performance.now() - began) / 1000
    const rows = results.map(({ policy, runs }) => ({ policy, figures: middle(runs) }))
    if (values.json) {
      console.log(
        JSON.stringify({
          scenario: values,
          policies: rows.map(({ policy, figures }) => ({ ...policy, ...figures })),
        }),
      )
      return 0
    }
    const { workers, cores, load, sizes, error } = values
    console.log(
      `${workers} workers × ${cores} cores, load ${load}, sizes ${sizes}, estimates off by σ = ${error}\n`,
    )
    console.log(
      table(
        [
          'policy',
          'workers run',
          'mean',
          'p50',
          'p99',
          'slowdown p99',
          'short 90 %',
          'largest 1 %',
          'worst',
          'refused',
        ],
        rows.map(({ policy, figures }) => [
          policy.scheduler,
          policy.discipline,
          duration(figures.meanResponseMs),
          duration(figures.p50ResponseMs),
          duration(figures.p99ResponseMs),
          significant(figures.p99Slowdown),
          significant(figures.shortP99Slowdown),
          significant(figures.largestSlowdown),
          significant(figures.maxSlowdown),
          significant(figures.refused).replace('.00', ''),
        ]),
      ),
    )
    console.log(
      `\nMedians of ${values.seeds} seeds, ${values.jobs.toLocaleString('en-US')} jobs each, in ${seconds.toFixed(1)} s. ` +
        'Slowdown: time in the system ÷ time alone on a core; p99 of all and of the shortest 90 %, mean of the largest 1 %.',
    )
    return 0
  },
}

/** The median of each figure. */
function middle(runs: Summary[]): Summary {
  const names = Object.keys(runs[0]!) as (keyof Summary)[]
  return Object.fromEntries(
    names.map((name) => [name, median(runs.map((run) => run[name]))]),
  ) as unknown as Summary
}
