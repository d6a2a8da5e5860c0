/**
 * How many jobs of a simulated cluster end within the interval that they were given when they arrived, and within the one that they
 * have after half of the predicted work.
 */

import { type Present, quoteDocument } from '../../src/estimate/quote.ts'
import { type EtaSeconds, Etas } from '../../src/keeper/eta.ts'
import { presentEnds } from '../../src/keeper/renewed-eta.ts'
import type { Job } from '../../src/model/job.ts'
import type { BrainView } from '../../src/model/view.ts'
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
export function coverageOf({ sizes: name, load, sigma, jobs }: EtaRun): Coverages {
  const sizes = distributions[name]
  const coverages = { accepted: new Coverage(), halfway: new Coverage() }
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
    { observer: observer(coverages) },
  )
  return coverages
}

export interface Coverages {
  accepted: Coverage
  /** Of jobs that were seen between the half and the whole of their predicted work. */
  halfway: Coverage
}

function observer({ accepted, halfway }: Coverages): Observer {
  const etas = new Etas()
  const jobs = new Map<string, Job>()
  const given = new Map<string, { at: number; quote: unknown; renewed?: EtaSeconds }>()
  const renew = (view: BrainView, now: number) => {
    for (const { jobs: held } of view.workers)
      for (const { job, running, ...place } of held) {
        const asked = given.get(job)
        const isHalfway = place.done > place.predicted / 2 && place.done < place.predicted
        if (!asked || asked.renewed || !running || !isHalfway) continue
        const { at: acceptedAt, quote } = asked
        const ends = presentEnds({ acceptedAt, quote }, { state: 'running', ...place }, now)!
        const since = (ms: number) => (ms - acceptedAt) / 1000
        asked.renewed = {
          earliest: since(ends.earliest),
          expected: since(ends.expected),
          latest: since(ends.latest),
        }
      }
  }
  return {
    observe(event, actions, now, brain) {
      if (event.type === 'arrived') {
        const { job } = event
        const view = brain.view()
        renew(view, now)
        const asked = quoteOf(job, presentOf(view, job.id, jobs))
        jobs.set(job.id, job)
        given.set(job.id, { at: now, quote: etas.accepted(job.id, asked, { now }) })
      }
      for (const action of actions) {
        const asked = action.type === 'answer' ? given.get(action.job) : undefined
        if (action.type !== 'answer' || !asked) continue
        jobs.delete(action.job)
        given.delete(action.job)
        const seconds = (now - asked.at) / 1000
        accepted.add(asked.quote, seconds)
        if (asked.renewed) halfway.add({ ends: asked.renewed }, seconds)
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
