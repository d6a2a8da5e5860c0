/** How many jobs of a simulated cluster end within the interval that they were given when they arrived. */

import { type Present, quoteDocument } from '../../src/estimate/quote.ts'
import { Etas } from '../../src/keeper/eta.ts'
import type { Job } from '../../src/model/job.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import type { Observer } from '../../src/simulate/environment.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { exponential, lognormal, pareto } from '../../src/simulate/sizes.ts'
import { Coverage } from './coverage.ts'

export const distributions = { exponential: exponential(1), lognormal: lognormal(), pareto: pareto() }
const [workers, cores] = [2, 2]

export interface EtaRun {
  sizes: keyof typeof distributions
  load: number
  /** Estimates are off by a lognormal factor of this sigma. */
  sigma: number
  jobs: number
}

/** From the first job of a fresh cluster on, which has learned nothing. */
export function coverageOf({ sizes: name, load, sigma, jobs }: EtaRun): Coverage {
  const sizes = distributions[name]
  const coverage = new Coverage()
  simulate(
    {
      brain: {
        ...{ scheduler: 'srpt', discipline: 'srpt', scale: { min: workers, max: workers } },
        ...{ epoch: 1, seed: 1, limits: { queue: 1e9 } },
      },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1e6, slots: cores + 16, bootMs: 0 },
      ...{ seed: 1, jobs, arrivals: poisson((load * workers * cores) / sizes.meanSeconds), sizes },
      errorSigma: sigma,
    },
    { observer: observer(coverage) },
  )
  return coverage
}

function observer(coverage: Coverage): Observer {
  const etas = new Etas()
  const jobs = new Map<string, Job>()
  const given = new Map<string, { at: number; quote: unknown }>()
  return {
    observe(event, actions, now, brain) {
      if (event.type === 'arrived') {
        const { job } = event
        const asked = quoteOf(job, presentOf(brain.view(), job.id, jobs))
        jobs.set(job.id, job)
        given.set(job.id, { at: now, quote: etas.accepted(job.id, asked, { now }) })
      }
      for (const action of actions) {
        const asked = action.type === 'answer' ? given.get(action.job) : undefined
        if (action.type !== 'answer' || !asked) continue
        jobs.delete(action.job)
        given.delete(action.job)
        coverage.add(asked.quote, (now - asked.at) / 1000)
        etas.ended(action.job, now)
      }
    },
  }
}

/** The job itself is in the view already. */
function presentOf(view: Present['view'], arrived: string, jobs: ReadonlyMap<string, Job>): Present {
  return {
    view: {
      workers: view.workers.map((worker) => ({
        ...worker,
        jobs: worker.jobs.filter(({ job }) => job !== arrived),
      })),
      waiting: view.waiting.filter((id) => id !== arrived),
    },
    rates: { of: () => unitsPerSecond },
    discipline: 'srpt',
    jobOf: (id) => jobs.get(id),
    overheadOf: () => undefined,
    pricePerHour: undefined,
    explain: () => '',
  }
}

function quoteOf({ work, low = work, high = work, memoryMb, workload }: Job, present: Present): unknown {
  const question = { workload, codeHash: '', key: '', params: {}, features: {} }
  return quoteDocument(
    question,
    { work, low, high, memoryMb, source: 'model', reason: { code: 'model' } },
    present,
  )
}
