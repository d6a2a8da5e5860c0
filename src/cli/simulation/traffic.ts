/** The traffic of a scenario: generated, or read from a trace. Files are read once for all runs. */

import { basename } from 'node:path'
import { flagOf } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { type Arrivals, arrivalsFromFile, bursty, diurnal, poisson } from '../../simulate/arrivals.ts'
import type { RunSpec } from '../../simulate/simulate.ts'
import {
  bimodal,
  drawnFrom,
  exponential,
  lognormal,
  pareto,
  type Sizes,
  sizesFromFile,
} from '../../simulate/sizes.ts'
import type { NamedFile } from '../../simulate/trace/lines.ts'
import { partOf } from '../../simulate/trace/part.ts'
import { looksLikeTrace, type ReadOptions, readTrace, usualTokenMs } from '../../simulate/trace/read.ts'
import type { Trace } from '../../simulate/trace/trace.ts'
import { type Traffic, trafficOf } from '../../simulate/trace/traffic.ts'
import { isGiven } from '../options.ts'
import { waitingLine } from '../terminal/progress.ts'
import type { Scenario } from './scenario-options.ts'

export interface ScenarioTraffic {
  /** Number of jobs in a run; an estimate for some traces. */
  jobs: number
  load: number
  /** A description for people. */
  words: string
  /** Start date of a trace that has dates and keeps its pace. */
  begins?: string | undefined
  notes: readonly string[]
  /** Fresh arrivals and sizes for one run. */
  run(): Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'known'> &
    Partial<Pick<RunSpec, 'errorSigma' | 'estimator' | 'asked'>>
}

/** Shown while a file is read; returns how it is removed. */
type Waiting = (what: string) => () => void

/** A trace has its own pace, sizes and estimates; options given in `args` override them. */
export async function readTraffic(
  scenario: Scenario,
  args: readonly string[],
  waiting: Waiting = waitingLine,
): Promise<ScenarioTraffic> {
  const given = (key: keyof Scenario) => isGiven(args, key)
  const tokenMs = tokenMsOf(scenario.tokenMs)
  if (scenario.trace === undefined) {
    for (const name of ['traceFormat', 'from', 'until', 'thin'] as const)
      if (given(name)) throw new ConfigError(`${flagOf(name)} = ${scenario[name]}: requires --trace`)
    return generated(scenario, await sizesOf(scenario.sizes, tokenMs, waiting))
  }
  if (given('arrivals'))
    throw new ConfigError(
      `--arrivals = ${scenario.arrivals}: cannot be combined with --trace, which has its own arrivals`,
    )
  const read = { format: scenario.traceFormat, tokenMs }
  const trace = partOf(await readFile({ option: '--trace', path: scenario.trace }, read, waiting), scenario)
  const drawn =
    given('sizes') || trace.recorded.kind === 'counts'
      ? await sizesOf(scenario.sizes, tokenMs, waiting)
      : undefined
  const traffic = trafficOf(trace, {
    cores: scenario.workers * scenario.cores,
    load: given('load') ? scenario.load : undefined,
    thin: given('thin') ? scenario.thin : undefined,
    jobs: given('jobs') ? scenario.jobs : undefined,
    sizes: drawn?.sizes,
    forget: given('error'),
  })
  const notes = [...(drawn && trace.recorded.kind === 'jobs' ? [] : trace.notes), ...(drawn?.notes ?? [])]
  if (traffic.load > 1 && !given('load'))
    notes.push('At its own pace this is more than the fleet can do; --load fits it to the fleet.')
  const begins = trace.dated && traffic.stretch === 1 ? dateWords(trace.beginsMs) : undefined
  return { ...traffic, words: wordsOf(scenario, trace, traffic, drawn?.sizes), begins, notes }
}

/** 1998-06-30 14:05 UTC */
function dateWords(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function generated(scenario: Scenario, { sizes, notes }: DrawnSizes): ScenarioTraffic {
  const { workers, cores, load, jobs, error } = scenario
  const perSecond = (load * workers * cores) / sizes.meanSeconds
  const run = () => ({ jobs, arrivals: arrivalsOf(scenario.arrivals, perSecond), sizes })
  // Reports a wrong name or file before anything runs.
  run()
  return {
    jobs,
    load,
    words: `load ${load}, sizes ${scenario.sizes}, estimates off by σ = ${error}`,
    notes,
    run,
  }
}

function wordsOf({ error }: Scenario, trace: Trace, traffic: Traffic, drawn: Sizes | undefined): string {
  const { load, stretch, scale, jobs } = traffic
  const digits = (value: number) => `${Number(value.toPrecision(3))}`
  const kept = scale === 1 ? '' : `requests × ${digits(scale)}`
  const slowed = stretch === 1 ? '' : `time × ${digits(stretch)}`
  const pace = [kept, slowed].filter(Boolean).join(', ') || 'as recorded'
  return [
    `${basename(trace.name)} (${trace.format}): ${jobs.toLocaleString('en-US')} jobs`,
    `load ${digits(load)} (${pace})`,
    drawn ? `sizes ${basename(drawn.name)}` : 'sizes as recorded',
    traffic.run().known ? 'estimates as recorded' : `estimates off by σ = ${error}`,
  ].join(', ')
}

interface DrawnSizes {
  sizes: Sizes
  notes: readonly string[]
}

async function sizesOf(
  name: string,
  tokenMs: readonly [number, number],
  waiting: Waiting,
): Promise<DrawnSizes> {
  const kinds: Record<string, () => Sizes> = { pareto, lognormal, bimodal, exponential }
  if (Object.hasOwn(kinds, name)) return { sizes: kinds[name]!(), notes: [] }
  if (!looksLikeFile(name))
    throw new ConfigError(`--sizes = ${name}: must be one of ${Object.keys(kinds).join(', ')}, or a file`)
  const file = { option: '--sizes', path: name }
  if (!(await looksLikeTrace(file))) return { sizes: sizesFromFile(name), notes: [] }
  const { recorded, notes, format } = await readFile(file, { tokenMs }, waiting)
  if (recorded.kind === 'counts')
    throw new ConfigError(`--sizes = ${name}: contains counts only (${format}); must be a trace with sizes`)
  return {
    sizes: drawnFrom(name, recorded.seconds),
    notes: [...notes, 'Arrivals and sizes come from different systems.'],
  }
}

export function arrivalsOf(name: string, perSecond: number): Arrivals {
  const kinds: Record<string, (perSecond: number) => Arrivals> = { poisson, bursty, diurnal }
  if (Object.hasOwn(kinds, name)) return kinds[name]!(perSecond)
  if (looksLikeFile(name)) return arrivalsFromFile(name)
  throw new ConfigError(`--arrivals = ${name}: must be one of ${Object.keys(kinds).join(', ')}, or a file`)
}

async function readFile(file: NamedFile, options: ReadOptions, waiting: Waiting): Promise<Trace> {
  const done = waiting(`reading ${file.path}`)
  try {
    return await readTrace(file, options)
  } finally {
    done()
  }
}

function tokenMsOf(text: string): [number, number] {
  const [context = Number.NaN, generated = Number.NaN, ...more] = text
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const sound = (ms: number) => ms >= 0 && ms <= 1e6
  if (more.length === 0 && sound(context) && sound(generated) && context + generated > 0)
    return [context, generated]
  throw new ConfigError(
    `--token-ms = ${text}: must be two numbers, 0 or more and not both 0, such as ${usualTokenMs.join(',')}`,
  )
}

function looksLikeFile(name: string): boolean {
  return name.includes('/') || name.includes('.')
}
