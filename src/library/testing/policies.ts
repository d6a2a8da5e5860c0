/** Small policies for tests. */

import type { EstimatorFactory } from '../policies/own-estimator.ts'
import type { ScalerFactory } from '../policies/own-scaler.ts'
import type { SchedulerFactory } from '../policies/scheduler.ts'

/** The same decisions as the built-in least-connections: the fewest jobs, then the job given longest ago. */
export const fewestJobs: SchedulerFactory = ({ open, accepts }) => ({
  name: 'fewest-jobs',
  place(job) {
    const [first] = open()
      .filter((worker) => accepts(worker, job))
      .sort((a, b) => a.jobs.length - b.jobs.length || a.placedAt - b.placedAt || (a.id < b.id ? -1 : 1))
    return first
      ? { worker: first, reason: { code: 'fewest', text: `it has ${first.jobs.length} jobs` } }
      : { reason: { code: 'full', text: 'all workers are full' } }
  },
})

/** One worker for every two jobs. */
export const halfTheJobs: ScalerFactory = ({ min, max }) => ({
  name: 'half-the-jobs',
  everyMs: 1000,
  decide({ jobs }) {
    const to = Math.max(min, Math.min(max, Math.ceil(jobs / 2)))
    return { kind: 'scale', to, reason: { code: 'half', jobs } }
  },
})

/** The mean of what each workload has cost so far. */
export const meanCost: EstimatorFactory = () => {
  const seen = new Map<string, { sum: number; count: number }>()
  return {
    name: 'mean-cost',
    estimate({ workload }) {
      const { sum, count } = seen.get(workload) ?? { sum: 1000, count: 1 }
      return { work: sum / count, reason: { code: 'mean', text: `the mean of ${count} jobs` } }
    },
    learn({ workload }, { work }) {
      const { sum, count } = seen.get(workload) ?? { sum: 0, count: 0 }
      seen.set(workload, { sum: sum + work, count: count + 1 })
    },
  }
}
