import type { Estimator } from './estimator.ts'

/** How much the newest measurement counts, once there are enough. */
const weight = 0.05
/** Of a workload that was never seen: a tenth of a second, and a slot's own memory. */
const unknown = { cpuMs: 100, memoryMb: 64 }

/** Each workload's mean so far. Knows nothing of parameters: a place-holder with an honest, wide interval. */
export function meanEstimator(workPerCpuMs: number): Estimator {
  const seen = new Map<string, { count: number; work: number; memoryMb: number }>()
  return {
    estimate({ workload }) {
      const mean = seen.get(workload)
      const { work, memoryMb } = mean ?? { work: unknown.cpuMs * workPerCpuMs, memoryMb: unknown.memoryMb }
      return { work, low: 0, high: work * 10, source: mean ? 'similar' : 'prior', memoryMb }
    },
    learn({ workload }, { work, peakMemoryMb }) {
      if (!(work >= 0 && peakMemoryMb >= 0)) return
      const mean = seen.get(workload) ?? { count: 0, work: 0, memoryMb: 0 }
      const share = Math.max(weight, 1 / ++mean.count)
      mean.work += share * (work - mean.work)
      mean.memoryMb += share * (peakMemoryMb - mean.memoryMb)
      seen.set(workload, mean)
    },
  }
}
