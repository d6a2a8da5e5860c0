/** One experiment of the hostile suite: what it starts is stopped, and what it finds is counted. */

import { type Counts, type InnocentOptions, Innocents, noCounts } from './innocents.ts'
import { mostSlowdown, Pace } from './pace.ts'
import { startUp, type Up, type UpOptions } from './up.ts'

export interface Experiment {
  name: string
  /** What is done, for people. */
  about: string
  /** Longer is a failure. */
  limitMs?: number
  /** True: no known version fails it. */
  isGuard?: boolean
  /** True: it only waits, so others may run meanwhile. */
  inBackground?: boolean
  run(trial: Trial): Promise<void>
}

export interface Verdict extends Counts {
  name: string
  ms: number
  slowestMs: number
  /** Undefined: not compared with a cluster that nobody attacks. */
  slowdown?: number
  mainDeaths: number
  workersLost: number
  failures: string[]
  skipped?: string
}

/** The machine lacks something that an experiment needs. */
export class Skipped extends Error {}

const usualLimitMs = 120_000

export class Trial {
  readonly #failures: string[] = []
  readonly #ups: { up: Up; brain: number | undefined; options: UpOptions }[] = []
  #pace: Pace | undefined
  readonly #innocents: Innocents[] = []
  readonly #last: (() => unknown)[] = []

  /** Notes a failure unless the condition holds. */
  check(condition: boolean, failure: string): void {
    if (!condition) this.#failures.push(failure)
  }

  async start(options: UpOptions = {}): Promise<Up> {
    const up = await startUp(options)
    this.#ups.push({ up, brain: up.brain()?.pid, options })
    return up
  }

  innocents(up: Up, options: InnocentOptions = {}): Innocents {
    const innocents = new Innocents(up, options)
    this.#innocents.push(innocents)
    return innocents
  }

  /** Compares this cluster, from its first rounds on, with another one of the same kind that nobody attacks. */
  async pace(up: Up): Promise<Pace> {
    const { options } = this.#ups.find((each) => each.up === up)!
    const calm = await this.start(options)
    // Both have the same load, but for the attack.
    this.innocents(calm, { slowMs: Infinity })
    this.#pace = new Pace(up, calm)
    await this.#pace.rounds(10)
    return this.#pace
  }

  /** Called after the experiment, the last one first. */
  after(then: () => unknown): void {
    this.#last.push(then)
  }

  async run({ name, limitMs = usualLimitMs, run }: Experiment): Promise<Verdict> {
    const began = performance.now()
    let skipped: string | undefined
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(() => limit.reject(new Error(`not over after ${limitMs / 1000} s`)), limitMs)
    try {
      const running = run(this)
      // After the limit, whatever it still does fails, because its cluster is gone.
      running.catch(() => {})
      await Promise.race([running, limit.promise])
    } catch (error) {
      if (error instanceof Skipped) skipped = error.message
      else this.#failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
    } finally {
      clearTimeout(timer)
    }
    const found = await this.#finish()
    const ms = performance.now() - began
    return { name, ms, ...found, failures: this.#failures, ...(skipped !== undefined && { skipped }) }
  }

  async #finish(): Promise<Omit<Verdict, 'name' | 'ms' | 'failures'>> {
    // First, while the attack still lasts.
    await this.#pace?.stop()
    for (const then of this.#last.reverse()) await then()
    await Promise.all(this.#innocents.map((each) => each.stop()))
    const counts = noCounts()
    for (const each of this.#innocents) {
      for (const key of Object.keys(counts) as (keyof Counts)[]) counts[key] += each.counts[key]
      this.#failures.push(...each.troubles)
    }
    const slowestMs = Math.max(0, ...this.#innocents.map((each) => each.slowestMs))
    let [mainDeaths, workersLost] = [0, 0]
    for (const { up, brain } of this.#ups) {
      if (up.isStopped) continue
      const died = whoDied(up, brain)
      if (died !== undefined) {
        mainDeaths++
        this.#failures.push(`${died}; the log ends with: ${up.lines.slice(-5).join(' | ')}`)
      } else {
        const lost = await lostWorkers(up)
        workersLost += lost.length
        this.#failures.push(...lost)
      }
      const left = await up.stop()
      this.check(
        left.length === 0,
        `left behind: ${left.map(({ pid, command }) => `${pid} ${command.slice(0, 80)}`).join('; ')}`,
      )
    }
    const slowdown = this.#pace?.slowdown
    this.check(
      slowdown === undefined || slowdown <= mostSlowdown,
      `requests took ${slowdown?.toFixed(1)} times as long as at a cluster that nobody attacked`,
    )
    return { ...counts, slowestMs, mainDeaths, workersLost, ...(slowdown !== undefined && { slowdown }) }
  }
}

function whoDied(up: Up, brain: number | undefined): string | undefined {
  const { exitCode, signalCode } = up.process
  if (up.isDead) return `the main process ended with ${signalCode ?? `code ${exitCode}`}`
  const now = up.brain()?.pid
  if (!up.killsBrain && brain !== now) return `the brain's process was ${brain} and is ${now}`
  return undefined
}

/** Workers that were declared lost, although no experiment killed them. */
async function lostWorkers(up: Up): Promise<string[]> {
  try {
    const { steps } = await up.state()
    return steps
      .filter(({ change, names }) => change === 'lost' && !names.every((name) => up.killedWorkers.has(name)))
      .map(({ text }) => text)
  } catch (error) {
    return [`the state cannot be read: ${(error as Error).message}`]
  }
}
