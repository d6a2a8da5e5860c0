import { ConfigError } from '../lib/errors.ts'
import { PolicyRecord } from '../simulate/report/record.ts'
import { simulate } from '../simulate/simulate.ts'
import type { Summary } from '../simulate/summary.ts'
import type { Money } from '../story/money.ts'
import { pricesFrom } from './cluster/functions.ts'
import { type Command, readOptions } from './options.ts'
import { figuresTable, middle, moneyExplained, slowdownExplained } from './simulation/figures.ts'
import { checkReportFile, reportOption, writeReport } from './simulation/report-file.ts'
import { type Contender, contender, doing, runSpec } from './simulation/scenario.ts'
import { type Scenario, scenarioOptions } from './simulation/scenario-options.ts'
import { showPresets } from './simulation/show-presets.ts'
import { readTraffic, type ScenarioTraffic } from './simulation/traffic.ts'
import { progressLine } from './terminal/progress.ts'
import { fitted } from './terminal/width.ts'

const options = {
  presets: {
    type: 'text',
    help: 'compare presets in place of policies, each on the traffic of every system: names separated by commas, or all, systems, peers',
    value: 'NAMES',
  },
  traffic: {
    type: 'text',
    help: "traffic of these systems only, with --presets: names separated by commas (default: every system's)",
    value: 'NAMES',
  },
  hours: {
    type: 'number',
    help: 'maximum hours of each traffic, with --presets',
    default: 24,
    min: 0.01,
    max: 24,
  },
  ...scenarioOptions,
  seeds: {
    type: 'integer',
    help: 'number of seeds; medians are shown',
    default: 5,
    min: 1,
    max: 1000,
  },
  report: reportOption,
  json: { type: 'flag', help: 'print JSON instead of a table' },
} as const

/** Several policies on the same arrivals, sizes and estimates. */
export const compare: Command = {
  summary: 'Compare policies in virtual time: every policy serves the same jobs.',
  usage:
    'POLICY[:DISCIPLINE],… [options]\n       for example: plimsoll compare least-connections,srpt --load 0.9',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (values.presets !== undefined) {
      if (rest.length > 0) throw new ConfigError(`compare --presets: unexpected ${rest.join(' ')}`)
      return showPresets(values.presets, { ...values, prices: pricesFrom(values) }, ['compare', ...args])
    }
    if (rest.length !== 1)
      throw new ConfigError('compare: name the policies, for example least-connections,srpt')
    const policies = rest[0]!.split(',').map((each) => contender(each))
    const { workers, cores, seed, seeds, report } = values
    if (report !== undefined) await checkReportFile(report)
    const traffic = await readTraffic(values, args)
    const began = performance.now()
    const results = runAll(values, policies, traffic, report !== undefined)
    const seconds = (performance.now() - began) / 1000
    const figures = results.map(({ policy, runs, costs }) => ({
      policy,
      summary: middle(runs),
      money: middle(costs),
    }))
    const about = [`${workers} workers × ${cores} cores, ${traffic.words}`, ...traffic.notes]
    const each = `${traffic.jobs.toLocaleString('en-US')} jobs`
    const basis = seeds === 1 ? `Seed ${seed}, ${each}` : `Medians of ${seeds} seeds, ${each} each`
    if (report !== undefined) {
      await writeReport(report, {
        title: 'Policies on the same jobs',
        about,
        args: ['compare', ...args],
        figures,
        basis: seeds === 1 ? basis : `${basis}, from seed ${seed} on`,
        records: results.flatMap(({ record }) => record ?? []),
        seeds,
        firstSeed: seed,
        begins: traffic.begins,
      })
    }
    if (values.json) {
      const { jobs, load, notes } = traffic
      const shown = figures.map(({ policy, summary, money }) => ({ ...policy, ...summary, money }))
      console.log(JSON.stringify({ scenario: values, traffic: { jobs, load, notes }, policies: shown }))
      return 0
    }
    console.log(`${about.map((line) => fitted(line)).join('\n')}\n`)
    console.log(figuresTable(figures))
    console.log(`\n${fitted(`${basis}, in ${seconds.toFixed(1)} s. ${slowdownExplained}`)}`)
    const money = moneyExplained(figures)
    if (money) console.log(fitted(money))
    if (report !== undefined) console.log(`Plots: ${report}`)
    return 0
  },
}

interface Result {
  policy: Contender
  runs: Summary[]
  costs: Money[]
  /** Undefined: no report was asked for. */
  record: PolicyRecord | undefined
}

/** Seed by seed, not policy by policy, so that an interrupted comparison is still a fair one. */
function runAll(
  scenario: Scenario & { seeds: number },
  policies: readonly Contender[],
  traffic: ScenarioTraffic,
  recorded: boolean,
): Result[] {
  const results: Result[] = policies.map((policy) => ({
    policy,
    runs: [],
    costs: [],
    record: recorded ? new PolicyRecord(policy.name, traffic.jobs) : undefined,
  }))
  const line = progressLine()
  let finished = 0
  for (let seed = scenario.seed; seed < scenario.seed + scenario.seeds; seed++) {
    for (const { policy, runs, costs, record } of results) {
      const progress = (answered: number) => {
        const part = Math.min(1, answered / traffic.jobs)
        const fraction = (finished + part) / (policies.length * scenario.seeds)
        line.show(fraction, doing(`${policy.name}, seed ${seed}`, answered))
      }
      const hooks = { progress, ...record?.hooks(seed === scenario.seed) }
      const result = simulate(runSpec(scenario, policy, seed, traffic), hooks)
      runs.push(result.summary())
      costs.push(result.money())
      finished++
    }
  }
  line.done()
  return results
}
