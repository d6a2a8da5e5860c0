/**
 * What a request takes besides its metered work: sockets, JSON, the start of its code, the runtime's own work. CPU time
 * is learned for each workload. The time between processes is learned from the fastest requests of all, because that of
 * others includes waiting, and only for quotes: jobs are ranked by what they need of a core.
 */

import type { Overhead } from '../model/estimate.ts'
import { isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** What one request took. */
export interface Took {
  work: number
  cpuMs: number
  wallMs: number
}

/** Quantiles of CPU time, and of the time between processes. */
const ofCpu = { low: 0.05, expected: 0.25, high: 0.95 }
const ofBetween = { low: 0, expected: 0.05, high: 0.25 }
/** Before anything was measured. */
const usual = { cpuMs: 1, betweenMs: 2 }
const mostKept = 2_000

export class Overheads {
  readonly #nominal: number
  readonly #byWorkload = new Recent<CpuTimes>(mostKept)
  readonly #all = cpuTimes()
  readonly #between = new Sample(usual.betweenMs)

  /** `nominal`: work per millisecond. */
  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** Of a workload without measurements: that of all workloads. */
  of(workload: string): Overhead {
    const { quoted, ranked } = this.#byWorkload.get(workload) ?? this.#all
    const at = (which: keyof typeof ofCpu) => quoted.at(ofCpu[which]) + this.#between.at(ofBetween[which])
    const rankedMs = ranked.at(ofCpu.expected) + usual.betweenMs
    return {
      low: at('low'),
      expected: at('expected'),
      high: at('high'),
      work: rankedMs * this.#nominal,
    }
  }

  /** `rate`: the work per millisecond of CPU time that quotes assume. Drops invalid measurements. */
  learn(workload: string, { work, cpuMs, wallMs }: Took, rate: number): void {
    if (!(work >= 0 && work < Infinity && isUsable(wallMs) && isUsable(rate))) return
    if (!(cpuMs >= 0 && cpuMs < Infinity)) return
    const own = this.#byWorkload.get(workload) ?? cpuTimes()
    this.#byWorkload.set(workload, own)
    for (const { quoted, ranked } of [own, this.#all]) {
      quoted.add(Math.max(0, cpuMs - work / rate))
      ranked.add(Math.max(0, cpuMs - work / this.#nominal))
    }
    // Several threads of a request may take more CPU time than it lasts.
    this.#between.add(Math.max(0, wallMs - cpuMs))
  }
}

/** CPU time beyond the work at the learned rate, and at the nominal rate. */
interface CpuTimes {
  quoted: Sample
  ranked: Sample
}

function cpuTimes(): CpuTimes {
  return { quoted: new Sample(usual.cpuMs), ranked: new Sample(usual.cpuMs) }
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
