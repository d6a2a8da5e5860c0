/**
 * How good are the first minutes? Starts `plimsoll up` with an empty data folder and sends a mixed load at once, in turn
 * with its defaults and with least-connections, which both serve the very same requests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptible } from '../src/cli/terminal/interrupt.ts'
import { duration, significant, table } from '../src/cli/terminal/table.ts'
import { median, quantile } from '../src/simulate/summary.ts'
import { startBusyLoops } from './cold/busy-loops.ts'
import { startFresh } from './cold/fresh-cluster.ts'
import { type Calibration, calibrate, drawArrivals, usualLoad } from './cold/jobs.ts'
import { shortP99Of, shortPart } from './cold/short.ts'
import { simulateLoads } from './cold/simulated-loads.ts'
import { sizedByWork } from './cold/sizes.ts'
import type { TimedJob } from './live/jobs.ts'
import { type Answered, play } from './live/play.ts'
import { workerCount } from './live/setting.ts'
import { forCluster } from './live/wording.ts'
import type { BenchOptions } from './options.ts'

/** The flags of `plimsoll up`. With `classic`, all jobs of a worker share its core, as behind other balancers. */
const arms = { default: [], 'least-connections': ['--preset', 'classic'] } as const
type Arm = keyof typeof arms
const armNames = Object.keys(arms) as Arm[]

/** Requests that arrive in this part of a run, in seconds after `up` said that it is ready. */
const windows = {
  first10s: { from: 0, to: 10 },
  first60s: { from: 0, to: 60 },
  after300s: { from: 300, to: 360 },
} as const
type WindowName = keyof typeof windows
const windowNames = Object.keys(windows) as WindowName[]

/** Lengths of the runs of each system, in seconds. */
const [fullRuns, quickRuns] = [
  [360, 360, 60, 60, 60, 10, 10],
  [60, 60, 10, 10, 10],
]

interface Run {
  arm: Arm
  seconds: number
  readyMs: number
  jobs: readonly TimedJob[]
  /** Requests whose time alone is only as drawn. */
  unmeasured: number
  answers: readonly Answered[]
}

/** What all runs have in common. */
interface Setting {
  load: number
  busy: boolean
}

export async function cold(options: BenchOptions): Promise<Record<string, unknown>> {
  const { quick, seconds = Infinity, load = usualLoad, busy = false } = options
  const lengths = options.runs ?? (quick ? quickRuns : fullRuns).map((each) => Math.min(each, seconds))
  const setting = { load, busy }
  let runs: Run[] = []
  let calibration: Calibration | undefined
  const code = await interruptible(async (signal) => {
    calibration = await withFolder((data) => calibrate(data, signal))
    if (!options.simulate) runs = await runAll(lengths, calibration, setting, signal)
    return 0
  })
  if (code !== 0) process.exit(code)
  if (options.simulate) return simulateLoads(calibration!, quick)
  const figures = report(runs, setting)
  console.log('The same in virtual time, where jobs have the cores to themselves:\n')
  simulateLoads(calibration!, true, [load])
  return figures
}

async function runAll(
  lengths: readonly number[],
  calibration: Calibration,
  { load, busy }: Setting,
  signal: AbortSignal,
): Promise<Run[]> {
  const runs: Run[] = []
  const endLoops = busy ? startBusyLoops() : async () => {}
  try {
    for (const [index, seconds] of lengths.entries()) {
      const jobs = drawArrivals({ seed: index + 1, seconds, load }, calibration)
      const both: Pick<Run, 'arm' | 'readyMs' | 'answers'>[] = []
      // The order alternates, so that neither always follows the other.
      for (const arm of index % 2 === 0 ? armNames : armNames.toReversed()) {
        const cluster = await startFresh(arms[arm])
        try {
          const answers = await play(cluster.url, jobs, forCluster, signal)
          both.push({ arm, readyMs: cluster.readyMs, answers })
        } finally {
          await cluster.stop()
        }
        console.error(
          `${seconds} s, ${arm}: ${jobs.length} requests, ready after ${duration(both.at(-1)!.readyMs)}`,
        )
      }
      const measured = sizedByWork(
        jobs,
        both.map(({ answers }) => answers),
        calibration,
      )
      runs.push(...both.map((run) => ({ ...run, ...measured, seconds })))
    }
  } finally {
    await endLoops()
  }
  return runs
}

async function withFolder<T>(use: (data: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cold-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Served {
  workload: string
  sizeMs: number
  responseMs: number
}

/** The requests of a run that arrived in the window; undefined: the run is too short. */
function servedIn(
  { jobs, answers, seconds }: Run,
  { from, to }: { from: number; to: number },
): Served[] | undefined {
  if (seconds < to) return undefined
  return jobs.flatMap(({ workload, sizeMs, atMs }, i) =>
    atMs >= from * 1000 && atMs < to * 1000 ? [{ workload, sizeMs, responseMs: answers[i]!.responseMs }] : [],
  )
}

/** p99 of the slowdown (response time ÷ time alone) of short requests: the median over the runs; undefined: no run. */
function shortP99(runs: readonly Run[], arm: Arm, window: WindowName, shortMs: number): number | undefined {
  const values = runs.flatMap((run) => {
    const served = run.arm === arm ? servedIn(run, windows[window]) : undefined
    if (!served) return []
    return [shortP99Of(served, shortMs)]
  })
  return values.length > 0 ? median(values) : undefined
}

function report(runs: readonly Run[], { load, busy }: Setting): Record<string, unknown> {
  const sizes = runs.flatMap(({ jobs }) => jobs.map(({ sizeMs }) => sizeMs)).sort((a, b) => a - b)
  const shortMs = quantile(sizes, shortPart)
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0)
  const measuredLoad = sizes.reduce((sum, ms) => sum + ms, 0) / (seconds * 1000 * workerCount)
  const unmeasured = runs.reduce((sum, run) => sum + run.unmeasured, 0) / armNames.length
  console.log(
    `${sizes.length / armNames.length} requests to each system, load ${load} of ${workerCount} workers of one core (${measuredLoad.toFixed(2)} by measured work)` +
      `${busy ? ', beside as many busy loops' : ''}. Times alone on a warm worker: ${duration(sizes[0]!)} to ` +
      `${duration(sizes.at(-1)!)}; short: at most ${duration(shortMs)} (${shortPart * 100} %). Times alone follow from the work of each request` +
      `${unmeasured > 0 ? `, but for ${unmeasured} that no system answered` : ''}.\n`,
  )
  const figures: Record<string, number | null> = {}
  for (const window of windowNames) {
    const [ours, theirs] = armNames.map((arm) => shortP99(runs, arm, window, shortMs))
    const name = window === 'first10s' ? 'short_p99_vs_leastconn_first10s' : window
    figures[name] =
      ours === undefined || theirs === undefined ? null : Math.round((ours / theirs) * 1000) / 1000
    if (figures[name] === null) console.log(`${window}: not measured; the runs are too short.\n`)
    else console.log(`${window}\n${windowTable(runs, window, shortMs)}\n`)
  }
  const errors = runs.flatMap(({ answers }) => answers.flatMap(({ error }) => error ?? []))
  for (const error of new Set(errors.slice(0, 5))) console.error(error)
  console.log(
    `Ready after ${armNames.map((arm) => `${duration(median(runs.filter((run) => run.arm === arm).map(({ readyMs }) => readyMs)))} (${arm})`).join(', ')}.` +
      ' Slowdown: response time ÷ time alone on a warm worker. p99 of short requests: median over the runs; other columns:' +
      ' all runs together.\n',
  )
  return { ...figures, errors: errors.length }
}

/** Response times by workload, then the slowdowns of short requests. */
function windowTable(runs: readonly Run[], window: WindowName, shortMs: number): string {
  const served = new Map(
    armNames.map((arm) => [
      arm,
      runs.filter((run) => run.arm === arm).flatMap((run) => servedIn(run, windows[window]) ?? []),
    ]),
  )
  const groups: [string, (job: Served) => boolean][] = [
    ...[...new Set(served.get('default')!.map(({ workload }) => workload))]
      .sort()
      .map((name): [string, (job: Served) => boolean] => [name, ({ workload }) => workload === name]),
    ['short', ({ sizeMs }) => sizeMs <= shortMs],
    ['long', ({ sizeMs }) => sizeMs > shortMs],
    ['all', () => true],
  ]
  const rows = groups.map(([name, belongs]) => {
    const cells = armNames.flatMap((arm) => {
      const times = served
        .get(arm)!
        .filter(belongs)
        .map(({ responseMs }) => responseMs)
        .sort((a, b) => a - b)
      return times.length === 0
        ? ['–', '–']
        : [duration(quantile(times, 0.5)), duration(quantile(times, 0.99))]
    })
    return [name, `${served.get('default')!.filter(belongs).length}`, ...cells]
  })
  const slowdowns = armNames.flatMap((arm) => ['', significant(shortP99(runs, arm, window, shortMs)!)])
  return table(
    ['', 'requests', ...armNames.flatMap((arm) => [`${arm} p50`, 'p99'])],
    [...rows, ['slowdown of short', '', ...slowdowns]],
  )
}
