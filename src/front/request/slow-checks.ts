/**
 * Decides which workloads' short parameters are too slow to be checked on the event loop: by the recent mean of the CPU
 * time of a check, so that neither a garbage collection nor a first, uncompiled call counts as slow.
 */

/** Above the first mean a workload uses the thread; below the second it returns to the event loop. */
const [slowMs, quickMs] = [1, 0.5]
/** The weight of the newest check in the mean. */
const newest = 1 / 16
/** One check that takes longer is enough. */
const longMs = 100

export class SlowChecks {
  readonly #log: (line: string) => void
  readonly #means = new Map<string, number>()
  readonly #slow = new Set<string>()

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  has(workload: string): boolean {
    return this.#slow.has(workload)
  }

  /** A check of short parameters took `ms` of CPU time, here or in the thread. */
  note(workload: string, ms: number): void {
    const before = this.#means.get(workload) ?? 0
    const mean = before + newest * (ms - before)
    this.#means.set(workload, mean)
    if (this.#slow.has(workload)) {
      if (mean >= quickMs) return
      this.#slow.delete(workload)
      this.#log(
        `workload ${workload}: its parameters are quick to check again, so no thread is used for them`,
      )
    } else if (mean > slowMs || ms > longMs) {
      this.#slow.add(workload)
      this.#log(
        `workload ${workload}: its parameters take more than ${slowMs} ms to check, so a thread checks them from now on`,
      )
    }
  }
}
