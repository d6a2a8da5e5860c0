/**
 * What a request takes besides its metered work: sockets, JSON, the start of its code, the runtime's own work. Learned
 * for each workload from what its fastest requests took.
 */

import { isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** In milliseconds, for a core to itself. */
export interface Overhead {
  low: number
  expected: number
  high: number
  /** As work at the nominal rate: the brain counts all work at that rate. */
  work: number
}

/** Requests remembered per workload. */
const remembered = 64
/** Requests of a busy cluster also wait, so the overhead is the quantile of the fast ones. */
const quantiles = { low: 0.05, expected: 0.25, high: 0.75 }
/** Before anything was measured. */
const usualMs = 3
const mostKept = 2_000

export class Overheads {
  readonly #nominal: number
  readonly #byWorkload = new Recent<Seen>(mostKept)
  readonly #all: Seen

  /** `nominal`: work per millisecond. */
  constructor(nominal: number) {
    this.#nominal = nominal
    this.#all = new Seen(nominal)
  }

  /** Of a workload without measurements: that of all workloads. */
  of(workload: string): Overhead {
    return this.#byWorkload.get(workload)?.overhead ?? this.#all.overhead
  }

  /** `rate`: the work per millisecond of CPU time that quotes assume. Drops invalid measurements. */
  learn(workload: string, { work, wallMs }: { work: number; wallMs: number }, rate: number): void {
    if (!(work >= 0 && work < Infinity && isUsable(wallMs) && isUsable(rate))) return
    let seen = this.#byWorkload.get(workload)
    if (!seen) {
      seen = new Seen(this.#nominal)
      this.#byWorkload.set(workload, seen)
    }
    for (const each of [seen, this.#all])
      each.add(Math.max(0, wallMs - work / rate), Math.max(0, wallMs - work / this.#nominal))
  }
}

class Seen {
  readonly #nominal: number
  readonly #quoted: number[] = []
  readonly #ranked: number[] = []
  #next = 0
  overhead: Overhead

  constructor(nominal: number) {
    this.#nominal = nominal
    this.overhead = { low: usualMs, expected: usualMs, high: usualMs, work: usualMs * nominal }
  }

  /** What it took beyond its work at the learned rate, and at the nominal rate. */
  add(quotedMs: number, rankedMs: number): void {
    this.#quoted[this.#next] = quotedMs
    this.#ranked[this.#next] = rankedMs
    this.#next = (this.#next + 1) % remembered
    const quoted = Float64Array.from(this.#quoted).sort()
    const ranked = Float64Array.from(this.#ranked).sort()
    this.overhead = {
      low: at(quoted, quantiles.low),
      expected: at(quoted, quantiles.expected),
      high: at(quoted, quantiles.high),
      work: at(ranked, quantiles.expected) * this.#nominal,
    }
  }
}

function at(sorted: Float64Array, quantile: number): number {
  return sorted[Math.floor(quantile * (sorted.length - 1))]!
}
