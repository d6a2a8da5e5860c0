/**
 * Measured work per second of CPU time, for each workload on each worker. Each rate is a compromise between its own
 * measurements and the rate one step more general: of the workload on the worker, of the workload on all workers, of all
 * workloads on the worker, nominal. The more CPU time was measured, the less the general rate counts.
 */

import { isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** Jobs are weighted by CPU time, at most 1 s each; the mean covers the last 5 s, so that it follows drift. */
const mostMs = 1_000
const memoryMs = 5_000
/**
 * CPU time of a request that may have nothing to do with its work: JSON, sockets, the start of its code. A job that takes
 * about as long says little about the rate, however often it runs.
 */
const unmeteredMs = 6
/** Deviations are clipped at this multiple of the standard deviation. */
const outlier = 2.5
/** Lower bound of the standard deviation of measured rates, in logs. */
const leastSigma = 0.0625
/** A rate below this share of the nominal one is of a job whose CPU time is mostly unmetered. */
const leastOfOthers = 0.1
/** What is known of a rate before it was measured, as a standard deviation of its log, and the CPU time that halves its variance. */
const priorSigma = 0.7
const priorMs = 50
/**
 * CPU time for which the more general rate counts. Workloads differ by a factor of 10, so that the nominal rate hardly
 * counts for a measured one; workers differ less, and the first jobs on a worker run before their code is optimized.
 */
const generalMs = { worker: 1, workload: 1, pair: 50 }
/** Number of rates kept; the least recently used is evicted. */
const mostKept = 20_000

interface Observed {
  weightMs: number
  meanLog: number
  variance: number
  /** Mean CPU time of the jobs, by weight. */
  jobMs: number
}

/** Work per second of CPU time. */
export interface Rates {
  of(worker: string, workload: string): number
  /** Standard deviation of the log of what the next request's rate will be. Undefined: the rate is exact. */
  sigma?(worker: string, workload: string): number
}

export interface FleetRatesOptions {
  /** True: each workload counts in a unit of its own, so that other rates say nothing about it. Default false. */
  ownUnits?: boolean
}

export class FleetRates implements Rates {
  readonly #nominal: number
  readonly #ownUnits: boolean
  readonly #observed = new Recent<Observed>(mostKept)

  /** `nominal` applies to workers and workloads without measurements. */
  constructor(nominal: number, { ownUnits = false }: FleetRatesOptions = {}) {
    this.#nominal = nominal
    this.#ownUnits = ownUnits
  }

  of(worker: string, workload: string): number {
    const ofWorkload = this.#observed.get(workloadKey(workload))
    const ofPair = this.#observed.get(pairKey(worker, workload))
    const ofWorker = this.#observed.get(workerKey(worker))
    if (!ofWorkload && (!ofWorker || this.#ownUnits)) return this.#nominal
    let log = Math.log(this.#nominal)
    log = between(log, ofWorker, this.#share('worker', ofWorker))
    log = between(log, ofWorkload, this.#ownUnits ? 1 : this.#share('workload', ofWorkload))
    return Math.exp(between(log, ofPair, this.#share('pair', ofPair)))
  }

  sigma(worker: string, workload: string): number {
    const ofWorkload = this.#observed.get(workloadKey(workload))
    if (!ofWorkload) return priorSigma
    const ofPair = this.#observed.get(pairKey(worker, workload))
    const knownMs = ofWorkload.weightMs * this.#trust(ofWorkload)
    const unknown = priorSigma * Math.sqrt(priorMs / (priorMs + knownMs))
    const share = this.#share('pair', ofPair)
    const variance = ofWorkload.variance + share * ((ofPair ?? ofWorkload).variance - ofWorkload.variance)
    return Math.hypot(unknown, Math.max(leastSigma, Math.sqrt(variance)))
  }

  /** Running time of the given work with a core to itself. */
  seconds(worker: string, workload: string, work: number): number {
    return work / this.of(worker, workload)
  }

  /** Worker '' is none of the fleet: it counts for the workload only. Drops invalid measurements. */
  learn(worker: string, workload: string, work: number, cpuMs: number): void {
    const rate = (work / cpuMs) * 1000
    if (!isUsable(work) || !isUsable(cpuMs) || !isUsable(rate)) return
    const jobMs = Math.min(mostMs, cpuMs)
    const measured = {
      meanLog: Math.log(rate),
      weightMs: jobMs * this.#trust({ jobMs }) ** 2,
      variance: 0,
      jobMs,
    }
    if (!(measured.weightMs > 0)) return
    const keys = [workloadKey(workload)]
    if (worker !== '') keys.push(pairKey(worker, workload))
    if (worker !== '' && rate >= leastOfOthers * this.#nominal) keys.push(workerKey(worker))
    for (const key of keys) {
      const observed = this.#observed.get(key)
      if (observed) add(observed, measured)
      else this.#observed.set(key, { ...measured })
    }
  }

  /** How far measured rates count, beside the more general one, from 0 to 1. */
  #share(kind: keyof typeof generalMs, observed: Observed | undefined): number {
    if (!observed) return 0
    return (this.#trust(observed) * observed.weightMs) / (observed.weightMs + generalMs[kind])
  }

  /** How far the rate of jobs of this CPU time is that of their work, from 0 to 1. */
  #trust({ jobMs }: Pick<Observed, 'jobMs'>): number {
    return this.#ownUnits ? 1 : jobMs ** 2 / (jobMs ** 2 + unmeteredMs ** 2)
  }
}

/** The log of a rate between the general one and the observed one. */
function between(general: number, observed: Observed | undefined, share: number): number {
  return observed ? general + share * (observed.meanLog - general) : general
}

function add(observed: Observed, { meanLog, weightMs, jobMs }: Observed): void {
  const share = weightMs / (observed.weightMs + weightMs)
  observed.weightMs = Math.min(memoryMs, observed.weightMs + weightMs)
  observed.jobMs += share * (jobMs - observed.jobMs)
  const bound = outlier * Math.max(leastSigma, Math.sqrt(observed.variance))
  const deviation = meanLog - observed.meanLog
  // With little data the first measurement may itself have been the outlier, so nothing is clipped.
  const off = share > 0.2 ? deviation : Math.max(-bound, Math.min(bound, deviation))
  observed.meanLog += share * off
  observed.variance = (1 - share) * (observed.variance + share * off ** 2)
}

// Workload names have no spaces; the first letter separates the kinds of keys.
const pairKey = (worker: string, workload: string) => `p ${workload} ${worker}`
const workloadKey = (workload: string) => `w ${workload}`
const workerKey = (worker: string) => `f ${worker}`
