/** Work per millisecond of CPU time: the nominal rate, and the rate learned for each workload. */
import type { MeterSetting } from '../model/metering.ts'

/** With the meter off, a unit of work is a microsecond. */
const unmetered = 1000
/** Geometric means over the bundled workloads on a server core of 2023; single workloads differ by a factor of 2. */
const metered = { work: 8_000_000, regions: 5_000_000, routines: 1_000_000 }

/** Work per millisecond of CPU time of an unknown workload. */
export function nominalRate(meter: MeterSetting): number {
  return meter === 'off' ? unmetered : metered[meter.mode]
}

/** Weight of the nominal rate, as CPU time of measurements. */
const priorMs = 10
/** CPU time of measurements that count; older ones decay. */
const memoryMs = 10_000

/** Learns a ratio of sums, so that long jobs count most: their duration matters most. */
export class Rates {
  readonly #nominal: number
  readonly #seen = new Map<string, { work: number; cpuMs: number }>()

  constructor(nominal: number) {
    this.#nominal = nominal
  }

  /** Work per millisecond of CPU time. */
  of(workload: string): number {
    const { work, cpuMs } = this.#sums(workload)
    return work / cpuMs
  }

  /** Learns from the progress of an attempt since the last call. Progress without work is ignored. */
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
