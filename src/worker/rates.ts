/** How much work a millisecond of CPU time does: what is taken for granted, and what each workload has shown. */
import type { MeterSetting } from '../model/metering.ts'

/** With the meter off a unit of work is a microsecond. */
const unmetered = 1000
/** Geometric means over the bundled workloads, on a server's core of 2023; single ones differ by a factor of 2. */
const metered = { work: 8_000_000, regions: 5_000_000, routines: 1_000_000 }

/** Work a millisecond of CPU time, of a workload that nothing is known of. */
export function nominalRate(meter: MeterSetting): number {
  return meter === 'off' ? unmetered : metered[meter.mode]
}

/** The nominal rate counts as much as this time of measuring. */
const priorMs = 10
/** Of what was measured so much counts; the older, the less. */
const memoryMs = 10_000

/** Learns as a ratio of sums: long jobs, whose time it matters to know, count most. */
export class Rates {
  readonly #nominal: number
  readonly #seen = new Map<string, { work: number; cpuMs: number }>()

  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** Work a millisecond of CPU time. */
  of(workload: string): number {
    const { work, cpuMs } = this.#sums(workload)
    return work / cpuMs
  }

  /** What an attempt has done since it was last learned from. Without work, it says nothing about the rate. */
  learn(workload: string, work: number, cpuMs: number): void {
    if (!(work > 0 && cpuMs > 0 && work < Infinity && cpuMs < Infinity)) return
    const sums = this.#sums(workload)
    const kept = Math.min(1, memoryMs / (sums.cpuMs + cpuMs))
    this.#seen.set(workload, { work: (sums.work + work) * kept, cpuMs: (sums.cpuMs + cpuMs) * kept })
  }

  #sums(workload: string): { work: number; cpuMs: number } {
    return this.#seen.get(workload) ?? { work: this.#nominal * priorMs, cpuMs: priorMs }
  }
}
