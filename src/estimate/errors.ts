/** How far estimates were off lately, by workload: an estimate that is wrong by far must be noticed. */

import { Recent } from './recent.ts'

/** Factors are at least 1: 2 means twice as much or half as much. */
export interface EstimateError {
  /** Number of the last answered requests that the figures cover. */
  requests: number
  medianFactor: number
  worst: Miss
}

/** A request, what was estimated for it, and what was measured. Work, as its worker measured it. */
export interface Miss {
  job: string
  factor: number
  estimated: number
  measured: number
}

/** Requests of each workload that are remembered. */
const mostRequests = 100
/** Workloads or routes; of more, those with requests lately. */
const mostWorkloads = 1000

export class EstimateErrors {
  readonly #misses = new Recent<Miss[]>(mostWorkloads)

  /** Amounts of 0 cannot be compared, and are ignored. */
  learn(workload: string, { job, estimated, measured }: Omit<Miss, 'factor'>): void {
    const factor = Math.max(estimated / measured, measured / estimated)
    if (!(factor >= 1 && factor < Infinity)) return
    const known = this.#misses.get(workload) ?? []
    this.#misses.set(workload, known)
    known.push({ job, factor, estimated, measured })
    if (known.length > mostRequests) known.shift()
  }

  /** Undefined: nothing is known of the workload. */
  of(workload: string): EstimateError | undefined {
    const misses = this.#misses.get(workload)
    if (!misses) return undefined
    const byFactor = misses.toSorted((a, b) => a.factor - b.factor)
    const half = byFactor.length >> 1
    const medianFactor =
      byFactor.length % 2 === 1
        ? byFactor[half]!.factor
        : (byFactor[half - 1]!.factor + byFactor[half]!.factor) / 2
    return { requests: byFactor.length, medianFactor, worst: byFactor.at(-1)! }
  }

  /** By workload, in the order of their names. */
  all(): Record<string, EstimateError> {
    const names = [...this.#misses.keys()].sort()
    return Object.fromEntries(names.map((name) => [name, this.of(name)!]))
  }
}
