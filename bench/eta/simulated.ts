/** Simulated: how many jobs end inside the interval that is given when they arrive. */

import type { Brain } from '../../src/brain/brain.ts'
import { quoteDocument } from '../../src/estimate/quote.ts'
import { DoneTimes, type Expected, type Range } from '../../src/keeper/done-times.ts'
import type { Job } from '../../src/model/job.ts'
import { poisson } from '../../src/simulate/arrivals.ts'
import type { Observer } from '../../src/simulate/environment.ts'
import { simulate, unitsPerSecond } from '../../src/simulate/simulate.ts'
import { exponential, lognormal, pareto, type Sizes } from '../../src/simulate/sizes.ts'

export const traffic: Readonly<Record<string, () => Sizes>> = {
  exponential: () => exponential(1),
  lognormal: () => lognormal(),
  pareto: () => pareto(),
}

export interface EtaRun {
  sizes: string
  load: number
  /** Estimates are off by a lognormal factor of this sigma. */
  sigma: number
  seed: number
  jobs: number
  warmup: number
}

export interface Inside {
  jobs: number
  /** Inside the interval of the quote alone, and of the quote with experience. */
  quoted: number
  given: number
  /** The end of the interval as a multiple of its beginning, in logs. */
  widths: number[]
}

const [workers, cores] = [2, 2]
const rates = { of: () => unitsPerSecond }

interface Given {
  at: number
  expected: Expected
  given: Range
}

export function insideOf({ sizes: name, load, sigma, seed, jobs, warmup }: EtaRun): Inside {
  const sizes = traffic[name]!()
  const known = new Map<string, Job>()
  const given = new Map<string, Given>()
  const times = new DoneTimes()
  const inside: Inside = { jobs: 0, quoted: 0, given: 0, widths: [] }
  const observer: Observer = {
    observe(event, actions, now, brain) {
      if (event.type === 'arrived') {
        const { job } = event
        const expected = expectedOf(brain, job, known)
        known.set(job.id, job)
        if (expected) given.set(job.id, { at: now, expected, given: times.of(expected) })
      }
      for (const action of actions) {
        if (action.type !== 'answer') continue
        const quote = given.get(action.job)
        known.delete(action.job)
        given.delete(action.job)
        if (!quote) continue
        const took = (now - quote.at) / 1000
        times.learn(quote.expected, took)
        if (Number(action.job.slice(1)) <= warmup) continue
        const { seconds, waitSeconds } = quote.expected
        const { low, high } = quote.given
        inside.jobs++
        // Times are whole milliseconds in the live cluster.
        const isIn = (from: number, to: number) => took >= from - 0.001 && took <= to + 0.001
        if (isIn(seconds.low, waitSeconds + seconds.high)) inside.quoted++
        if (isIn(low, high)) inside.given++
        inside.widths.push(Math.log(high / low))
      }
    },
  }
  simulate(
    {
      ...{ seed, jobs: jobs + warmup, sizes, errorSigma: sigma },
      arrivals: poisson((load * workers * cores) / sizes.meanSeconds),
      brain: {
        ...{ scheduler: 'srpt', discipline: 'srpt', scale: { min: workers, max: workers } },
        ...{ epoch: 1, seed, limits: { queue: 1e9 } },
      },
      fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots: cores + 16, bootMs: 0 },
    },
    { observer },
  )
  return inside
}

function expectedOf(brain: Brain, job: Job, known: ReadonlyMap<string, Job>): Expected | undefined {
  const question = { workload: 'sim', codeHash: '', key: job.id, params: {}, features: {} }
  const { work, low, high } = job
  const quote = { work, low, high, memoryMb: 0, source: 'learned', reason: { code: 'memo' } }
  // The brain has it already.
  const { workers, waiting } = brain.view()
  const view = {
    workers: workers.map((worker) => ({
      ...worker,
      jobs: worker.jobs.filter((each) => each.job !== job.id),
    })),
    waiting: waiting.filter((id) => id !== job.id),
  }
  const { seconds, waitSeconds } = quoteDocument(question, quote as never, {
    ...{ view, rates, discipline: 'srpt', pricePerHour: undefined },
    ...{ jobOf: (id) => known.get(id), overheadOf: () => undefined, explain: () => '' },
  })
  return waitSeconds === null ? undefined : { seconds, waitSeconds }
}
