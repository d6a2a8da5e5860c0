/** Runs a workload's requests alternately in two processes, metered and unmetered, and records their times. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { median } from '../../src/simulate/summary.ts'
import { loadWorkloads } from '../../src/workload/load.ts'
import type { MeterCase } from './case.ts'
import type { CaseResult, ChildSetup } from './child.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export interface Figures {
  name: string
  /** Metered ÷ unmetered time, geometric mean of all requests. */
  overhead: number
  /** p95 of the factor between a request's rate of work and the median rate. */
  fidelity: number
  /** The highest rate of work of a request ÷ the lowest, by the CPU time of its fastest unmetered run: see `settle`. */
  spread: number
  workPerMs: number
  leastMs: number
  mostMs: number
  cases: number
  /** Of each request: its work, and the CPU time of its fastest unmetered run. */
  byCase: readonly { work: number; fastestMs: number }[]
}

export interface PairOptions {
  dataDir: string
  /** Runs a quarter of the requests. */
  quick: boolean
  /** False if the first requests do additional work, such as creating a database. */
  exactAtOnce: boolean
  /** The module with the requests. Default: that of the workload's name. */
  casesFile?: string
}

/** Warm-up runs before measurements, so that the JIT compiler has settled. */
const [warmRuns, warmMs] = [6, 100]
/** Short requests are noisy and run more often; long requests run less often. */
const [shortMs, longMs, shortTurns] = [40, 400, 3]
/** A fastest run is improved if another one is faster by more than this. */
const improvement = 0.02

export class Pair {
  readonly name: string
  readonly #exactAtOnce: boolean
  readonly #cases: readonly MeterCase[]
  readonly #indices: readonly number[]
  readonly #runners: readonly [plain: Runner, metered: Runner]
  readonly #results = new Map<number, CaseResult>()
  /** Times by request, in pairs of consecutive runs. */
  readonly #pairs = new Map<number, [plainMs: number, meteredMs: number][]>()
  /** CPU time of the fastest unmetered run since the warm-up, by request. */
  readonly #fastest = new Map<number, number>()

  static async start(name: string, options: PairOptions): Promise<Pair> {
    const { dataDir, casesFile = at(`./${name}.ts`) } = options
    const file = at(`../../workloads/${name}.ts`)
    const { cases } = (await import(casesFile)) as { cases: MeterCase[] }
    const packages = (await loadWorkloads([file])).flatMap((workload) => workload.meter.packages)
    const setup = { file, cases: casesFile, dataDir }
    const runners = [
      new Runner(setup),
      new Runner({ ...setup, meter: { ...defaultMeter, packages } }),
    ] as const
    await Promise.all(runners.map((runner) => runner.run(-1)))
    return new Pair(name, cases, options, runners)
  }

  private constructor(
    name: string,
    cases: readonly MeterCase[],
    { quick, exactAtOnce }: PairOptions,
    runners: readonly [Runner, Runner],
  ) {
    this.name = name
    this.#exactAtOnce = exactAtOnce
    this.#cases = cases
    this.#indices = cases.map((_, i) => i).filter((i) => !quick || i % 4 === 1)
    this.#runners = runners
  }

  async warmUp(): Promise<void> {
    for (const i of this.#indices) {
      for (const which of [0, 1] as const) {
        for (let spentMs = 0, runs = 0; runs < warmRuns && spentMs < warmMs; runs++) {
          spentMs += await this.#run(which, i)
          if (!this.#exactAtOnce) this.#results.clear()
        }
      }
    }
  }

  /** Runs every request; long ones only in every other round. */
  async round(number: number): Promise<void> {
    for (const i of this.#indices) {
      const pairs = this.#pairs.get(i) ?? []
      this.#pairs.set(i, pairs)
      const lastMs = pairs.at(-1)?.[0] ?? 0
      if (lastMs > longMs && number % 2 === 1) continue
      for (let turn = 0; turn < (lastMs < shortMs ? shortTurns : 1); turn++) {
        const pair: [number, number] = [0, 0]
        for (const which of pairs.length % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          pair[which] = await this.#run(which, i)
        }
        pairs.push(pair)
        this.#improve(i, pair[0])
      }
    }
  }

  /**
   * Repeats the unmetered runs until none of the last `calm` rounds improved a fastest run, for at most `most` rounds. Other
   * programs on the machine only make a run slower, but not all requests equally: few runs compare requests with the load.
   */
  async settle({ calm, most }: { calm: number; most: number }): Promise<void> {
    for (let round = 0, quiet = 0; round < most && quiet < calm; round++) {
      let improved = false
      for (const i of this.#indices) if (this.#improve(i, await this.#run(0, i))) improved = true
      quiet = improved ? 0 : quiet + 1
    }
  }

  #improve(i: number, plainMs: number): boolean {
    const before = this.#fastest.get(i) ?? Number.POSITIVE_INFINITY
    this.#fastest.set(i, Math.min(before, plainMs))
    return plainMs < before * (1 - improvement)
  }

  /** Throws if responses or work differ between runs. */
  async #run(which: 0 | 1, i: number): Promise<number> {
    const result = await this.#runners[which].run(i)
    const before = this.#results.get(i)
    if (before && before.digest !== result.digest) throw new Error(`${this.name} ${i}: responses differ`)
    if (before && which === 1 && before.work > 0 && before.work !== result.work) {
      throw new Error(`${this.name} ${i}: work differs: ${before.work}, ${result.work}`)
    }
    this.#results.set(i, which === 1 ? result : { ...result, work: before?.work ?? 0 })
    return result.cpuMs
  }

  figures(): Figures {
    const all = this.#indices.map((i) => {
      const pairs = this.#pairs.get(i)!
      const meteredMs = median(pairs.map(([, metered]) => metered))
      return {
        i,
        plainMs: median(pairs.map(([plain]) => plain)),
        overhead: median(pairs.map(([plain, metered]) => metered / plain)),
        rate: this.#results.get(i)!.work / meteredMs,
        work: this.#results.get(i)!.work,
        fastestMs: this.#fastest.get(i)!,
      }
    })
    const usual = median(all.map(({ rate }) => rate))
    const best = all.map(({ work, fastestMs }) => work / fastestMs)
    const off = all.map(({ rate }) => Math.abs(Math.log(rate / usual))).sort((a, b) => a - b)
    if (process.env.METER_CASES) {
      for (const { i, plainMs, overhead, rate } of all) {
        const params = JSON.stringify(this.#cases[i]!.params).slice(0, 100)
        console.log(this.name, i, plainMs.toFixed(1), overhead.toFixed(3), (rate / usual).toFixed(2), params)
      }
    }
    return {
      name: this.name,
      overhead: geomean(all.map(({ overhead }) => overhead)),
      fidelity: Math.exp(off[Math.ceil(off.length * 0.95) - 1]!),
      spread: Math.max(...best) / Math.min(...best),
      workPerMs: usual,
      leastMs: Math.min(...all.map(({ plainMs }) => plainMs)),
      mostMs: Math.max(...all.map(({ plainMs }) => plainMs)),
      cases: all.length,
      byCase: all.map(({ work, fastestMs }) => ({ work, fastestMs })),
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#runners.map((runner) => runner.end()))
  }
}

/** A process that runs requests one at a time. */
class Runner {
  readonly #process: ChildProcess
  #waiting: PromiseWithResolvers<CaseResult> | undefined

  constructor(setup: ChildSetup) {
    this.#process = fork(at('./child.ts'), [JSON.stringify(setup)])
    this.#process.on('message', (result) => this.#waiting?.resolve(result as CaseResult))
    this.#process.on('exit', (code) => this.#waiting?.reject(new Error(`${setup.file}: exit code ${code}`)))
  }

  /** With -1, only waits until the process is ready. */
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

export function geomean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}
