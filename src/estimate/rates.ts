/** How much work a second of CPU time does: of each workload on each worker, as far as it has been seen. */

import { isUsable } from './guess.ts'
import { Recent } from './recent.ts'

/** A job counts by its CPU time: at most so much, and of all the last so much, so that the mean follows what drifts. */
const mostMs = 1_000
const memoryMs = 5_000
/** What is farther from the mean than this many times the usual distance counts as if it were no farther. */
const outlier = 3
/** The usual distance, in logs, is taken to be this at least. */
const leastSpread = 0.05
/** The workers and workloads used last that are remembered. */
const mostKept = 20_000

interface Seen {
  weightMs: number
  meanLog: number
  /** The mean distance from the mean. */
  spread: number
}

/** Work a second of CPU time, of a workload on a worker. */
export interface Rates {
  of(worker: string, workload: string): number
}

export class FleetRates implements Rates {
  readonly #nominal: number
  readonly #seen = new Recent<Seen>(mostKept)

  /** `nominal` is work a second of a worker and workload of which nothing is known. */
  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** Work a second of CPU time: of the workload there, else anywhere, else of whatever ran there, else nominal. */
  of(worker: string, workload: string): number {
    const seen =
      this.#seen.get(pairKey(worker, workload)) ??
      this.#seen.get(workloadKey(workload)) ??
      this.#seen.get(workerKey(worker))
    return seen ? Math.exp(seen.meanLog) : this.#nominal
  }

  /** How long so much work takes with a core to itself. */
  seconds(worker: string, workload: string, work: number): number {
    return work / this.of(worker, workload)
  }

  /** What cannot be a measurement is dropped. */
  learn(worker: string, workload: string, work: number, cpuMs: number): void {
    const rate = (work / cpuMs) * 1000
    if (!isUsable(work) || !isUsable(cpuMs) || !isUsable(rate)) return
    const weightMs = Math.min(mostMs, cpuMs)
    for (const key of [pairKey(worker, workload), workloadKey(workload), workerKey(worker)]) {
      const seen = this.#seen.get(key)
      if (seen) add(seen, Math.log(rate), weightMs)
      else this.#seen.set(key, { weightMs, meanLog: Math.log(rate), spread: 0 })
    }
  }
}

function add(seen: Seen, log: number, weightMs: number): void {
  const share = weightMs / (seen.weightMs + weightMs)
  seen.weightMs = Math.min(memoryMs, seen.weightMs + weightMs)
  const bound = outlier * Math.max(leastSpread, seen.spread)
  // Little is known yet: the first may itself have been the odd one.
  const off = share > 0.2 ? log - seen.meanLog : Math.max(-bound, Math.min(bound, log - seen.meanLog))
  seen.meanLog += share * off
  seen.spread += share * (Math.abs(off) - seen.spread)
}

// Names of workloads have no spaces; the first letter keeps the kinds of keys apart.
const pairKey = (worker: string, workload: string) => `p ${workload} ${worker}`
const workloadKey = (workload: string) => `w ${workload}`
const workerKey = (worker: string) => `f ${worker}`
