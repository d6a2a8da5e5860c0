import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { clusterOptions } from '../config/cluster-options.ts'
import { ConfigError, InvariantError } from '../lib/errors.ts'
import { chaos } from '../simulate/chaos.ts'
import { FleetSteps } from '../simulate/fleet-steps.ts'
import { PolicyRecord } from '../simulate/report/record.ts'
import { simulateLearning as run } from '../simulate/simulate.ts'
import type { Summary } from '../simulate/summary.ts'
import type { Money } from '../story/money.ts'
import type { SchedulerName } from '../systems/schedulers.ts'
import { type Command, isGiven, readOnlyOptions } from './options.ts'
import { moneyText } from './simulation/money.ts'
import { recordedTraffic } from './simulation/recorded-traffic.ts'
import { checkReportFile, reportOption, writeReport } from './simulation/report-file.ts'
import {
  type Contender,
  contender,
  doing,
  isScaled,
  presetContender,
  runSpec,
} from './simulation/scenario.ts'
import { type Scenario, scenarioOptions } from './simulation/scenario-options.ts'
import { readTraffic, type ScenarioTraffic } from './simulation/traffic.ts'
import { progressLine } from './terminal/progress.ts'
import { duration, significant, table } from './terminal/table.ts'
import { fitted } from './terminal/width.ts'

const options = {
  policy: {
    type: 'text',
    help: 'scheduling policy, optionally with the discipline of the workers',
    default: 'srpt',
    value: 'POLICY[:DISCIPLINE]',
  },
  preset: {
    type: 'text',
    help: 'a preset with its constants and scaling in place of --policy; --workers is then the maximum',
    choices: clusterOptions.preset.choices,
  },
  ...scenarioOptions,
  faults: {
    type: 'flag',
    help: 'draw a small cluster and faults of all kinds from the seed, and check all invariants after every event',
  },
  'take-over': {
    type: 'flag',
    help: 'with --faults: brains die, too, and others take over',
  },
  report: reportOption,
  log: { type: 'text', help: 'write the event log to this file', value: 'FILE' },
  json: { type: 'flag', help: 'print JSON instead of a table' },
} as const

/** One policy in virtual time. */
export const simulate: Command = {
  summary: 'Run the brain in virtual time. The same seed gives the same run, byte for byte.',
  usage: '[options]',
  options,
  async run(args) {
    const given = readOnlyOptions('simulate', args, options)
    const policy = asked(given, args)
    const ownMin = isGiven(args, 'min') ? undefined : policy.preset?.scale?.min
    const values = { ...given, ...(ownMin !== undefined && { min: ownMin }) }
    for (const name of ['trace', 'report'] as const)
      if (values.faults && values[name] !== undefined)
        throw new ConfigError(
          `--${name} = ${values[name]}: cannot be combined with --faults, which draws its own jobs`,
        )
    if (values['take-over'] && !values.faults) throw new ConfigError('--take-over requires --faults')
    if (values.report !== undefined) await checkReportFile(values.report)
    const traffic = values.faults ? undefined : await trafficOf(values, args)
    const sink = openLog(values.log)
    try {
      return traffic
        ? await calm(policy, values, traffic, args, sink)
        : faulty(policy, { ...values, takeOver: values['take-over'] }, sink)
    } finally {
      sink.close()
    }
  },
}

async function trafficOf(
  values: Scenario & { preset: string | undefined },
  args: readonly string[],
): Promise<ScenarioTraffic> {
  const recorded = values.preset === undefined ? undefined : recordedTraffic(values.preset, values, args)
  return recorded ?? (await readTraffic(values, args))
}

function asked(
  { preset, policy, faults }: { preset: string | undefined; policy: string; faults: boolean },
  args: readonly string[],
): Contender<SchedulerName> {
  if (preset === undefined) return contender(policy, '--policy')
  if (isGiven(args, 'policy'))
    throw new ConfigError(`--preset = ${preset}: cannot be combined with --policy, which it replaces`)
  if (faults) throw new ConfigError(`--preset = ${preset}: cannot be combined with --faults`)
  return presetContender(preset)
}

async function calm(
  policy: Contender,
  values: Scenario & { json: boolean; report: string | undefined },
  traffic: ScenarioTraffic,
  args: readonly string[],
  sink: LogSink,
): Promise<number> {
  const { workers, cores, seed, report } = values
  const record = report === undefined ? undefined : new PolicyRecord(policy.name, traffic.jobs)
  const line = progressLine()
  const began = performance.now()
  const steps = new FleetSteps()
  const result = await run(runSpec(values, policy, seed, traffic), {
    log: sink.write,
    observer: steps,
    progress: (answered) => line.show(Math.min(1, answered / traffic.jobs), doing(policy.name, answered)),
    ...record?.hooks(true),
  })
  line.done()
  const seconds = (performance.now() - began) / 1000
  const summary = result.summary()
  const money = result.money()
  const isScaling = isScaled(values, policy.preset)
  const fleet = isScaling && values.min < workers ? `${values.min} to ${workers}` : `${workers}`
  const about = [`${fleet} workers × ${cores} cores, ${traffic.words}`, ...traffic.notes]
  if (record && report !== undefined) {
    await writeReport(report, {
      title: `${policy.preset ? policy.name : policy.scheduler} in virtual time`,
      about,
      args: ['simulate', ...args],
      figures: [{ policy, summary, money }],
      basis: `Seed ${seed}, ${summary.jobs.toLocaleString('en-US')} jobs answered. Money: ${moneyText(money)}`,
      records: [record],
      seeds: 1,
      firstSeed: seed,
      begins: traffic.begins,
    })
  }
  if (values.json) {
    const { launches, reversals } = steps
    const { preset: _, ...named } = policy
    console.log(
      JSON.stringify({
        ...{ ...named, ...summary },
        ...{ launches, reversals },
        money,
        virtualMs: result.virtualMs,
        log: sink.hash(),
      }),
    )
    return 0
  }
  console.log(`${about.map((line) => fitted(line)).join('\n')}\n`)
  const rows = resultRows(summary, [
    ...(isScaling ? fleetRows(steps, money) : []),
    ['virtual time', duration(result.virtualMs)],
    ['event log, sha256', sink.hash().slice(0, 16)],
  ])
  const ran = `${policy.scheduler} (${policy.discipline})`
  console.log(table([policy.preset ? `${policy.name}: ${ran}` : ran, `seed ${seed}`], rows))
  console.log(`\n${fitted(`Money: ${moneyText(money)}.`)}`)
  const answered = summary.jobs + summary.refused
  console.log(`\n${Math.round(answered / seconds).toLocaleString('en-US')} simulated requests a second.`)
  if (report !== undefined) console.log(`Plots: ${report}`)
  return 0
}

function resultRows(summary: Summary, more: string[][]): string[][] {
  return [
    ['jobs answered', summary.jobs.toLocaleString('en-US')],
    ['jobs rejected', summary.refused.toLocaleString('en-US')],
    ['mean response', duration(summary.meanResponseMs)],
    ['median response', duration(summary.p50ResponseMs)],
    ['p99 response', duration(summary.p99ResponseMs)],
    ['mean slowdown', significant(summary.meanSlowdown)],
    ['p99 slowdown', significant(summary.p99Slowdown)],
    ['p99 slowdown, shortest 90 %', significant(summary.shortP99Slowdown)],
    ['mean slowdown, largest 1 %', significant(summary.largestSlowdown)],
    ['worst slowdown', significant(summary.maxSlowdown)],
    ...more,
  ]
}

/** Figures of a fleet whose size changes. */
function fleetRows(steps: FleetSteps, { workerHours, peakWorkers }: Money): string[][] {
  return [
    ['worker-hours', workerHours.toFixed(1)],
    ['most workers', String(peakWorkers)],
    ['launches', String(steps.launches)],
    ['reversals', String(steps.reversals)],
  ]
}

function faulty(
  policy: Contender<SchedulerName>,
  { seed, json, takeOver }: { seed: number; json: boolean; takeOver: boolean },
  sink: LogSink,
): number {
  try {
    const result = chaos(policy.scheduler, seed, { log: sink.write, takeOver })
    if (json) console.log(JSON.stringify({ ...policy, seed, ...result }))
    else {
      const rows = Object.entries(result).map(([name, value]) => [
        name,
        typeof value === 'number' ? `${value}` : value.slice(0, 16),
      ])
      console.log(table([`${policy.scheduler}, with faults`, `seed ${seed}`], rows))
      console.log('\nAll invariants held after every event.')
    }
    return 0
  } catch (error) {
    if (!(error instanceof InvariantError)) throw error
    if (json) console.log(JSON.stringify({ ...policy, seed, broken: error.message }))
    else console.log(`Invariant violated: ${error.message}`)
    return 1
  }
}

interface LogSink {
  write(chunk: Uint8Array): void
  hash(): string
  close(): void
}

function openLog(file: string | undefined): LogSink {
  const hash = createHash('sha256')
  let descriptor: number | undefined
  if (file !== undefined) {
    try {
      descriptor = openSync(file, 'w')
    } catch (error) {
      throw new ConfigError(`--log = ${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return {
    write(chunk) {
      hash.update(chunk)
      if (descriptor !== undefined) writeSync(descriptor, chunk)
    },
    hash: () => hash.copy().digest('hex'),
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}
