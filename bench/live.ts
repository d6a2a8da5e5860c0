/**
 * Real workers under a heavy-tailed mix of the nine workloads, at load 0.9 of two cores: compares Plimsoll's default with
 * least-connections, HAProxy and nginx in front of the same workers, and with the simulator on the same jobs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptible } from '../src/cli/terminal/interrupt.ts'
import { duration, significant, table } from '../src/cli/terminal/table.ts'
import { mean } from '../src/simulate/summary.ts'
import { type Measured, measureAlone } from './live/alone.ts'
import { type Figures, figuresOf, type Outcome } from './live/figures.ts'
import { drawJobs, schedule, type TimedJob } from './live/jobs.ts'
import { workOff } from './live/play.ts'
import { proxies, versionOf } from './live/proxies.ts'
import { type Run, runSystem } from './live/run.ts'
import { load, workerCount } from './live/setting.ts'
import { type SimulatedJob, simulated } from './live/simulated.ts'
import { type SystemName, startCluster, systemNames } from './live/systems.ts'
import { forCluster } from './live/wording.ts'
import type { BenchOptions } from './options.ts'

/** The seed of the jobs that estimators learn from, which are not measured. */
const trainingSeed = 1000
/** The seed of the warm-up jobs of each run, so that none starts with an empty system. */
const warmingSeed = 2000
const lanesOfTraining = 4

/** The jobs of a seed, and how each system served them. */
export interface Round {
  jobs: (TimedJob & Measured)[]
  runs: Map<SystemName, Run>
}

export async function live({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  let rounds: Round[] = []
  const code = await interruptible(async (signal) => {
    rounds = await runLive(quick, signal)
    return 0
  })
  if (code !== 0) process.exit(code)
  return report(rounds)
}

export async function runLive(quick: boolean, signal: AbortSignal): Promise<Round[]> {
  const seeds = quick ? [1] : [1, 2, 3]
  const [training, warming, counted] = quick ? [300, 50, 320] : [1200, 100, 1010]
  const began = performance.now()
  const say = (line: string) =>
    console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`)
  const systems = systemNames.filter(isThere)
  const root = mkdtempSync(join(tmpdir(), 'plimsoll-bench-live-'))
  try {
    const data = join(root, 'data')
    say(`${training} requests to learn from`)
    await train(data, training, signal)
    const drawn = [drawJobs(warmingSeed, warming), ...seeds.map((seed) => drawJobs(seed, counted))].flat()
    say(`${drawn.length} jobs, each alone on a core`)
    const measured = await measureAlone(drawn, data, signal)
    say(sizesInWords(measured))
    const rounds: Round[] = []
    for (const [i, seed] of seeds.entries()) {
      const own = measured.slice(warming + i * counted, warming + (i + 1) * counted)
      const jobs = schedule([...measured.slice(0, warming), ...own], { seed, load, uncounted: warming })
      const runs = new Map<SystemName, Run>()
      const order = [...systems.slice(i % systems.length), ...systems.slice(0, i % systems.length)]
      for (const name of order) {
        say(`seed ${seed}: ${name}, for ${(jobs.at(-1)!.atMs / 1000).toFixed(0)} s`)
        runs.set(name, await runSystem(name, jobs, { folder: join(root, 'run'), data, signal }))
      }
      rounds.push({ jobs, runs })
    }
    return rounds
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Prints how to install a missing proxy. */
function isThere(name: SystemName): boolean {
  if (name !== 'haproxy' && name !== 'nginx') return true
  const version = versionOf(name)
  if (version !== undefined) console.error(`${name} ${version}`)
  else
    console.error(
      `${name} is absent; on Debian: apt-get install --no-install-recommends ${proxies[name].program}`,
    )
  return version !== undefined
}

async function train(data: string, count: number, signal: AbortSignal): Promise<void> {
  const cluster = await startCluster(data)
  try {
    const jobs = drawJobs(trainingSeed, count)
    await workOff(cluster.url, jobs, { wording: forCluster, lanes: lanesOfTraining, signal })
  } finally {
    await cluster.stop()
  }
}

function sizesInWords(jobs: readonly Measured[]): string {
  const sizes = jobs.map(({ sizeMs }) => sizeMs).sort((a, b) => a - b)
  const sum = mean(sizes) * sizes.length
  const largest = sizes.slice(Math.round(0.95 * sizes.length)).reduce((total, ms) => total + ms, 0)
  const [least, most] = [duration(sizes[0]!), duration(sizes.at(-1)!)]
  return `sizes from ${least} to ${most}, mean ${duration(mean(sizes))}; the largest 5 % hold ${((100 * largest) / sum).toFixed(0)} %`
}

/** Of measured jobs. */
function outcomesOf(rounds: readonly Round[], responseMs: (round: Round, job: number) => number): Outcome[] {
  return rounds.flatMap((round) =>
    round.jobs.flatMap(({ counts, sizeMs }, i) =>
      counts ? [{ sizeMs, responseMs: responseMs(round, i) }] : [],
    ),
  )
}

/** The jobs as measured and estimated in the run of Plimsoll. */
function asTheyWere({ jobs, runs }: Round): SimulatedJob[] {
  const { answers, jobs: seen } = runs.get('plimsoll')!
  return jobs.map(({ work: actual, atMs, sizeMs, besidesMs }, i) => {
    const found = seen!.get(String(answers[i]!.headers['plimsoll-job']))
    if (!found || !(actual > 0)) return { atMs, sizeMs, estimate: { work: 1 } }
    const { work, low, high, unproven, preemptible } = found.job
    const estimate = { work: work / actual, low: low && low / actual, high: high && high / actual }
    return { atMs, sizeMs: found.cpuMs + besidesMs, estimate, unproven, preemptible }
  })
}

function simulate(rounds: readonly Round[], speed: (round: Round) => number): Figures {
  const responses = new Map(
    rounds.map((round) => [round, simulated(asTheyWere(round), { speed: speed(round) })]),
  )
  return figuresOf(outcomesOf(rounds, (round, i) => responses.get(round)![i]!))
}

/** The share of the cores that everything but slots left for jobs. */
function leftForJobs({ cpu: { machineMs, slotsMs, wallMs } }: Run): number {
  return 1 - Math.max(0, machineMs - slotsMs) / (wallMs * availableParallelism())
}

export function report(rounds: readonly Round[]): Record<string, unknown> {
  const rows: string[][] = []
  const figures = new Map<SystemName | 'simulator', Figures>()
  for (const name of systemNames) {
    const runs = rounds.flatMap(({ runs }) => runs.get(name) ?? [])
    if (runs.length === 0) {
      rows.push([name, ...Array<string>(11).fill('absent')])
      continue
    }
    const own = figuresOf(outcomesOf(rounds, ({ runs }, i) => runs.get(name)!.answers[i]!.responseMs))
    figures.set(name, own)
    const errors = runs.flatMap(({ answers }) => answers.flatMap(({ error }) => error ?? []))
    for (const error of new Set(errors.slice(0, 5))) console.error(`${name}: ${error}`)
    rows.push([name, ...cellsOf(own), `${errors.length}`, slotsOf(runs), ...cpuCells(runs)])
  }
  const simulator = simulate(rounds, () => 1)
  const slower = simulate(rounds, ({ runs }) => leftForJobs(runs.get('plimsoll')!))
  for (const [name, figures] of [
    ['plimsoll, simulated', simulator],
    ['on what was left', slower],
  ] as const)
    rows.push([name, ...cellsOf(figures), ...Array<string>(6).fill('–')])
  const jobs = rounds.flatMap(({ jobs }) => jobs.filter(({ counts }) => counts)).length
  console.log(
    `${jobs.toLocaleString('en-US')} jobs over ${rounds.length} seeds, load 0.9 of ${workerCount} workers of one core; this machine has ${availableParallelism()}\n`,
  )
  console.log(
    table(
      [
        'system',
        'p50',
        'p99',
        'mean',
        'short 90 %, p99',
        'largest 5 %',
        'errors',
        'slots',
        'CPU: slots',
        'system',
        'sender',
        'others',
      ],
      rows,
    ),
  )
  console.log(
    '\nOn what was left: the same on cores slowed down by what everything but slots took of them in the run of Plimsoll.' +
      '\nSlowdown: time to the answer ÷ time alone on a core; p99 of the shortest 90 %, mean of the largest 5 %. Slots: existing' +
      '\nor started in a run. CPU, as a share of all cores: of slots, of the other processes of the system, of the' +
      '\nsender of the requests, and of everything else on the machine, which should be close to 0.\n',
  )
  const ours = figures.get('plimsoll')!
  const peers = (['least-connections', 'haproxy', 'nginx'] as const).flatMap(
    (name) => figures.get(name) ?? [],
  )
  const shortVs = (other: Figures | undefined) => (other ? round3(ours.shortP99 / other.shortP99) : null)
  return {
    short_p99_vs_haproxy: shortVs(figures.get('haproxy')),
    short_p99_vs_nginx: shortVs(figures.get('nginx')),
    big_vs_best_peer: round3(ours.bigMean / Math.min(...peers.map(({ bigMean }) => bigMean))),
    live_vs_sim_short_p99_ratio: shortVs(simulator),
    live_vs_sim_mean: round3(ours.meanMs / simulator.meanMs),
    live_vs_sim_mean_on_what_was_left: round3(ours.meanMs / slower.meanMs),
  }
}

function cellsOf({ p50Ms, p99Ms, meanMs, shortP99, bigMean }: Figures): string[] {
  return [duration(p50Ms), duration(p99Ms), duration(meanMs), significant(shortP99), significant(bigMean)]
}

function slotsOf(runs: readonly Run[]): string {
  return mean(runs.map(({ slots }) => slots)).toFixed(0)
}

function cpuCells(runs: readonly Run[]): string[] {
  const sum = (of: (cpu: Run['cpu']) => number) => runs.reduce((total, { cpu }) => total + of(cpu), 0)
  const all = sum(({ wallMs }) => wallMs) * availableParallelism()
  const own = (['slotsMs', 'systemMs', 'senderMs'] as const).map((part) => sum((cpu) => cpu[part]))
  const othersMs = own.reduce(
    (left, ms) => left - ms,
    sum(({ machineMs }) => machineMs),
  )
  return [...own, Math.max(0, othersMs)].map((ms) => `${((100 * ms) / all).toFixed(1)} %`)
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000
}
