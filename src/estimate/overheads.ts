/**
 * What a request takes besides its metered work: sockets, JSON, the start of its code, the runtime's own work. CPU time
 * is learned for each workload. What jobs need of a core counts for prices and deadlines: of the time between processes
 * only that of the fastest requests of all, because that of others includes waiting. Quoted times are to come true, so
 * they count all the time that requests of the workload take which neither wait for a core nor are paused.
 */

import type { Overhead } from '../model/estimate.ts'
import { isUsable } from './guess.ts'
import { type Range, sumOf } from './range.ts'
import { Recent } from './recent.ts'

/** What one request took. */
export interface Took {
  work: number
  cpuMs: number
  wallMs: number
  /** From its start to its answer. Undefined: it had to wait for a core, or that is unknown. */
  undisturbedMs?: number | undefined
}

/** Quantiles of CPU time, and of the time between processes. */
const ofCpu = { low: 0.05, expected: 0.25, high: 0.95 }
const ofBetween = { low: 0, expected: 0.05, high: 0.25 }
/** Quantiles of both for quoted times. */
const ofElapsed = { low: 0.05, expected: 0.5, high: 0.95 }
/** Before anything was measured. */
const usual = { cpuMs: 1, betweenMs: 2 }
const mostKept = 2_000

export class Overheads {
  readonly #nominal: number
  readonly #byWorkload = new Recent<Samples>(mostKept)
  readonly #all = samples()
  readonly #between = new Sample(usual.betweenMs)

  /** `nominal`: work per millisecond. */
  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** Of a workload without measurements: that of all workloads. `workMs`: the time of the request's work. */
  of(workload: string, workMs = 0): Overhead {
    const samples = this.#byWorkload.get(workload) ?? this.#all
    const { quoted, ranked } = samples
    const at = (which: keyof typeof ofCpu) => quoted.at(ofCpu[which]) + this.#between.at(ofBetween[which])
    const rankedMs = ranked.at(ofCpu.expected) + usual.betweenMs
    return {
      low: at('low'),
      expected: at('expected'),
      high: at('high'),
      // Most jobs are never quoted.
      elapsed: () => this.#elapsed(samples, workMs),
      work: rankedMs * this.#nominal,
    }
  }

  #elapsed({ quoted, without }: Samples, workMs: number): Range {
    const times = without.isMeasured ? without : this.#all.without
    const cpuMs = workMs + quoted.at(ofElapsed.expected)
    return sumOf(
      rangeOf((which) => quoted.at(ofElapsed[which])),
      rangeOf((which) => times.at(ofElapsed[which], cpuMs)),
    )
  }

  /** `rate`: the work per millisecond of CPU time that quotes assume. Drops invalid measurements. */
  learn(workload: string, { work, cpuMs, wallMs, undisturbedMs }: Took, rate: number): void {
    if (!(work >= 0 && work < Infinity && isUsable(wallMs) && isUsable(rate))) return
    if (!(cpuMs >= 0 && cpuMs < Infinity)) return
    const own = this.#byWorkload.get(workload) ?? samples()
    this.#byWorkload.set(workload, own)
    for (const { quoted, ranked, without } of [own, this.#all]) {
      quoted.add(Math.max(0, cpuMs - work / rate))
      ranked.add(Math.max(0, cpuMs - work / this.#nominal))
      if (undisturbedMs !== undefined && isUsable(undisturbedMs)) without.add(undisturbedMs - cpuMs, cpuMs)
    }
    // Several threads of a request may take more CPU time than it lasts.
    this.#between.add(Math.max(0, wallMs - cpuMs))
  }
}

interface Samples {
  /** CPU time beyond the work at the learned rate, and at the nominal rate. */
  quoted: Sample
  ranked: Sample
  /** Of requests that did not wait. */
  without: TimesWithoutCore
}

function samples(): Samples {
  return {
    quoted: new Sample(usual.cpuMs),
    ranked: new Sample(usual.cpuMs),
    without: new TimesWithoutCore(),
  }
}

function rangeOf(at: (which: keyof Range) => number): Range {
  return { expected: at('expected'), low: at('low'), high: at('high') }
}

/** Number of values remembered. */
const remembered = 64
/** The first requests wait for slots and compile their code, so that a sample starts with this many assumed values. */
const assumed = 16

/** The most recent values of a quantity. */
class Sample {
  readonly #values: number[]
  #next = assumed
  #sorted: Float64Array | undefined

  constructor(usual: number) {
    this.#values = new Array<number>(assumed).fill(usual)
  }

  add(value: number): void {
    this.#values[this.#next] = value
    this.#next = (this.#next + 1) % remembered
    this.#sorted = undefined
  }

  at(quantile: number): number {
    this.#sorted ??= Float64Array.from(this.#values).sort()
    return this.#sorted[Math.floor(quantile * (this.#sorted.length - 1))]!
  }
}

/**
 * Times of recent requests between their CPU time. They grow with the CPU time if other processes use the cores too, but
 * not in proportion to that of tiny requests: only similar ones are compared so.
 */
class TimesWithoutCore {
  readonly #seen: { ms: number; cpuMs: number }[] = []
  #next = 0

  get isMeasured(): boolean {
    return this.#seen.length > 0
  }

  add(ms: number, cpuMs: number): void {
    this.#seen[this.#next] = { ms: Math.max(0, ms), cpuMs }
    this.#next = (this.#next + 1) % remembered
  }

  /** For a request that takes this CPU time. */
  at(quantile: number, cpuMs: number): number {
    const scaled = this.#seen.map(({ ms, cpuMs: ofOther }) => {
      return { ms, scale: (pathMs + cpuMs) / (pathMs + ofOther) }
    })
    const similar = scaled.filter(({ scale }) => scale < mostScale && scale > 1 / mostScale)
    const times =
      similar.length > 0
        ? similar.map(({ ms, scale }) => ms * scale)
        : scaled.map(({ ms, scale }) => ms * Math.min(1, scale))
    if (times.length < enough) times.push(...assumedPathMs)
    times.sort((a, b) => a - b)
    return times[Math.floor(quantile * (times.length - 1))]!
  }
}

/** About what the path of a short request takes: requests that take less CPU time are all similar. */
const pathMs = 10
const mostScale = 4
/** Times that count besides those of the first requests, which start processes, until this many requests were measured. */
const assumedPathMs = [1, 1.5, 2, 3, 6]
const enough = 16
