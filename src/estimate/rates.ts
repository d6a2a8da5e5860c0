/** Measured work per second of CPU time, for each workload on each worker. */

import { isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** Jobs are weighted by CPU time, at most 1 s each; the mean covers the last 5 s, so that it follows drift. */
const mostMs = 1_000
const memoryMs = 5_000
/** Deviations are clipped at this multiple of the mean deviation. */
const outlier = 3
/** Lower bound of the mean deviation, in logs. */
const leastSpread = 0.05
/** A rate below this share of the nominal one is of a job whose CPU time is mostly unmetered. */
const leastOfOthers = 0.1
/** What is known of a rate before it was measured, as a standard deviation of its log, and the CPU time that halves its variance. */
const priorSigma = 0.7
const priorMs = 50
/** The standard deviation of a normal distribution, as a multiple of its mean deviation. */
const sigmaPerMean = 1.25
/** Number of rates kept; the least recently used is evicted. */
const mostKept = 20_000

interface Observed {
  weightMs: number
  meanLog: number
  /** Mean absolute deviation. */
  spread: number
}

/** Work per second of CPU time. */
export interface Rates {
  of(worker: string, workload: string): number
  /** Standard deviation of the log of what the next request's rate will be. Undefined: the rate is exact. */
  sigma?(worker: string, workload: string): number
}

export class FleetRates implements Rates {
  readonly #nominal: number
  readonly #observed = new Recent<Observed>(mostKept)

  /** `nominal` applies to workers and workloads without measurements. */
  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** The rate of the workload on the worker, else on any worker, else of any workload on the worker, else nominal. */
  of(worker: string, workload: string): number {
    const observed = this.#ofWorkload(worker, workload) ?? this.#observed.get(workerKey(worker))
    return observed ? Math.exp(observed.meanLog) : this.#nominal
  }

  sigma(worker: string, workload: string): number {
    const observed = this.#ofWorkload(worker, workload)
    if (!observed) return priorSigma
    const { weightMs, spread } = observed
    const unknown = priorSigma * Math.sqrt(priorMs / (priorMs + weightMs))
    return Math.hypot(unknown, sigmaPerMean * Math.max(leastSpread, spread))
  }

  #ofWorkload(worker: string, workload: string): Observed | undefined {
    return this.#observed.get(pairKey(worker, workload)) ?? this.#observed.get(workloadKey(workload))
  }

  /** Running time of the given work with a core to itself. */
  seconds(worker: string, workload: string, work: number): number {
    return work / this.of(worker, workload)
  }

  /** Drops invalid measurements. */
  learn(worker: string, workload: string, work: number, cpuMs: number): void {
    const rate = (work / cpuMs) * 1000
    if (!isUsable(work) || !isUsable(cpuMs) || !isUsable(rate)) return
    const weightMs = Math.min(mostMs, cpuMs)
    const keys = [pairKey(worker, workload), workloadKey(workload)]
    if (rate >= leastOfOthers * this.#nominal) keys.push(workerKey(worker))
    for (const key of keys) {
      const observed = this.#observed.get(key)
      if (observed) add(observed, Math.log(rate), weightMs)
      else this.#observed.set(key, { weightMs, meanLog: Math.log(rate), spread: 0 })
    }
  }
}

function add(observed: Observed, log: number, weightMs: number): void {
  const share = weightMs / (observed.weightMs + weightMs)
  observed.weightMs = Math.min(memoryMs, observed.weightMs + weightMs)
  const bound = outlier * Math.max(leastSpread, observed.spread)
  const deviation = log - observed.meanLog
  // With little data the first measurement may itself have been the outlier, so nothing is clipped.
  const off = share > 0.2 ? deviation : Math.max(-bound, Math.min(bound, deviation))
  observed.meanLog += share * off
  observed.spread += share * (Math.abs(off) - observed.spread)
}

// Workload names have no spaces; the first letter separates the kinds of keys.
const pairKey = (worker: string, workload: string) => `p ${workload} ${worker}`
const workloadKey = (workload: string) => `w ${workload}`
const workerKey = (worker: string) => `f ${worker}`
