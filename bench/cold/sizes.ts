/** Times alone of requests that were answered, from the work that was metered in them. */
import { mean } from '../../src/simulate/summary.ts'
import { headers } from '../../src/wire/messages.ts'
import type { TimedJob } from '../live/jobs.ts'
import type { Answered } from '../live/play.ts'
import type { Calibration } from './jobs.ts'

type Answer = Pick<Answered, 'headers' | 'error'>

export interface Measured {
  jobs: TimedJob[]
  /** Requests whose work is unknown because no system answered them. They keep the size that was drawn. */
  unmeasured: number
}

/**
 * How much work a request needs is often unknown when it is drawn: that of a factorization varies by a factor of 5. The work
 * is the same in all systems, but for that of the shop, which depends on its stock: then the mean counts.
 */
export function sizedByWork(
  jobs: readonly TimedJob[],
  systems: readonly (readonly Answer[])[],
  { workPerMs, besidesMs }: Pick<Calibration, 'workPerMs' | 'besidesMs'>,
): Measured {
  let unmeasured = 0
  const sized = jobs.map((job, i) => {
    const works = systems.flatMap((answers) => workOf(answers[i]!) ?? [])
    if (works.length === 0) unmeasured++
    if (works.length === 0) return job
    return { ...job, sizeMs: besidesMs + mean(works) / workPerMs.get(job.workload)! }
  })
  return { jobs: sized, unmeasured }
}

function workOf({ headers: fields, error }: Answer): number | undefined {
  // What failed may have done only a part of its work.
  if (error !== undefined) return undefined
  const work = Number.parseFloat(String(fields[headers.work]))
  return work >= 0 ? work : undefined
}
