/**
 * The meter: what counting costs, how well what it counts agrees with CPU time, and how old a running job's progress
 * is. Each workload runs in two processes, metered and not, in turns; figures are medians of process CPU time.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { table } from '../src/cli/table.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import { median } from '../src/simulate/summary.ts'
import { loadWorkloads } from '../src/workload.ts'
import { ages } from './meter/age.ts'
import type { MeterCase } from './meter/case.ts'
import type { CaseResult, ChildSetup } from './meter/child.ts'
import type { BenchOptions } from './options.ts'

const names = [
  'factorize',
  'julia',
  'dna',
  'grayscott',
  'hillclimb',
  'foxes-rabbits',
  'insect-war',
  'compress',
] as const

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Figures {
  name: string
  overhead: number
  fidelity: number
  workPerMs: number
  leastMs: number
  mostMs: number
  cases: number
}

export async function meter({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const figures: Figures[] = []
  for (const name of names) figures.push(await compare(name, quick))
  const age = await ages(names, quick)
  console.log(
    table(
      ['workload', 'requests', 'CPU ms', 'overhead', 'fidelity', 'units/ms', 'age p99 ms', 'age max ms'],
      figures.map((it) => [
        it.name,
        String(it.cases),
        `${it.leastMs.toFixed(1)}–${it.mostMs.toFixed(0)}`,
        it.overhead.toFixed(3),
        it.fidelity.toFixed(3),
        it.workPerMs.toExponential(2),
        age.byName[it.name]!.p99.toFixed(1),
        age.byName[it.name]!.max.toFixed(1),
      ]),
    ),
  )
  return {
    overhead_geomean: round(geomean(figures.map((it) => it.overhead))),
    overhead_max: round(Math.max(...figures.map((it) => it.overhead))),
    fidelity_p95_worst: round(Math.max(...figures.map((it) => it.fidelity))),
    progress_age_p99_ms: round(age.p99),
    progress_age_max_ms: round(age.max),
  }
}

/** A process that runs requests one at a time. */
class Runner {
  readonly #process: ChildProcess
  #waiting: PromiseWithResolvers<CaseResult> | undefined

  constructor(setup: ChildSetup) {
    this.#process = fork(at('./meter/child.ts'), [JSON.stringify(setup)])
    this.#process.on('message', (result) => this.#waiting?.resolve(result as CaseResult))
    this.#process.on('exit', (code) => this.#waiting?.reject(new Error(`${setup.file}: exit code ${code}`)))
  }

  /** -1 only waits until it is ready. */
  run(index: number): Promise<CaseResult> {
    this.#waiting = Promise.withResolvers()
    if (index >= 0) this.#process.send(index)
    return this.#waiting.promise
  }

  async end(): Promise<void> {
    this.#waiting = undefined
    this.#process.disconnect()
    if (this.#process.exitCode === null) await once(this.#process, 'exit')
  }
}

async function compare(name: string, quick: boolean): Promise<Figures> {
  const file = at(`../workloads/${name}.ts`)
  const casesFile = at(`./meter/${name}.ts`)
  const { cases: all } = (await import(casesFile)) as { cases: MeterCase[] }
  const indices = all.map((_, i) => i).filter((i) => !quick || i % 4 === 1)
  const packages = (await loadWorkloads([file])).flatMap((workload) => workload.meter.packages)
  const runners = [
    new Runner({ file, cases: casesFile }),
    new Runner({ file, cases: casesFile, meter: { ...defaultMeter, packages } }),
  ]
  await Promise.all(runners.map((runner) => runner.run(-1)))
  const cpuMs = runners.map(() => new Map<number, number[]>(indices.map((i) => [i, []])))
  const results = new Map<number, CaseResult>()
  const once = async (j: number, i: number): Promise<number> => {
    const result = await runners[j]!.run(i)
    const before = results.get(i)
    if (before && before.digest !== result.digest) throw new Error(`${name} ${i}: answers differ`)
    if (before && j === 1 && before.work > 0 && before.work !== result.work) {
      throw new Error(`${name} ${i}: work differs: ${before.work}, ${result.work}`)
    }
    results.set(i, j === 1 ? result : { ...result, work: before?.work ?? 0 })
    return result.cpuMs
  }
  // Compilers have settled when each has been run for some time.
  for (const i of indices) {
    for (const j of [0, 1]) {
      for (let spentMs = 0, runs = 0; runs < 6 && spentMs < 100; runs++) spentMs += await once(j, i)
    }
  }
  for (let round = 0; round < (quick ? 2 : 4); round++) {
    for (const i of indices) {
      const known = cpuMs[0]!.get(i)!
      // Short ones are the noisiest, long ones take the time.
      const lastMs = known.at(-1) ?? 0
      if (lastMs > 400 && round > 1) continue
      for (let turn = 0; turn < (lastMs < 40 ? 3 : 1); turn++) {
        for (const j of round % 2 === 0 ? [0, 1] : [1, 0]) cpuMs[j]!.get(i)!.push(await once(j, i))
      }
    }
  }
  await Promise.all(runners.map((runner) => runner.end()))
  const [plain, metered] = cpuMs.map((times) => indices.map((i) => median(times.get(i)!)))
  const rates = indices.map((i, n) => results.get(i)!.work / metered![n]!)
  const usual = median(rates)
  const off = rates.map((rate) => Math.abs(Math.log(rate / usual))).sort((a, b) => a - b)
  if (process.env.METER_CASES) {
    indices.forEach((i, n) => {
      const ratio = (metered![n]! / plain![n]!).toFixed(3)
      const rate = (rates[n]! / usual).toFixed(2)
      console.log(name, i, plain![n]!.toFixed(1), ratio, rate, JSON.stringify(all[i]!.params).slice(0, 100))
    })
  }
  return {
    name,
    overhead: geomean(metered!.map((ms, n) => ms / plain![n]!)),
    fidelity: Math.exp(off[Math.ceil(off.length * 0.95) - 1]!),
    workPerMs: usual,
    leastMs: Math.min(...plain!),
    mostMs: Math.max(...plain!),
    cases: indices.length,
  }
}

function geomean(values: number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
