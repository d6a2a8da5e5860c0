/** The same jobs in virtual time, at several loads: what the ratio can be, and what least-connections does. */
import { significant, table } from '../../src/cli/terminal/table.ts'
import { stream } from '../../src/lib/random.ts'
import { median, quantile } from '../../src/simulate/summary.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { type SimulatedJob, type Simulation, simulated } from '../live/simulated.ts'
import { type Calibration, drawSizes, type SizedArrival } from './jobs.ts'
import { type Served, shortP99Of, shortPart, slowdownOf } from './short.ts'

const usualLoads = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]
const seconds = 60
/** Estimates are off by a lognormal factor: not at all, as those of the bundled workloads are, or twice as far. */
const sigmas = [0, 0.3, 0.7]

/** Work per millisecond, of all workloads. */
const nominal = nominalRate({ mode: 'work', formula: {} })

interface Row {
  shortMs: number
  classic: readonly Served[]
  ours: readonly (readonly Served[])[]
  /** As workers and brain count: by units of work at one rate for all workloads. */
  byUnits: readonly Served[]
}

/** Prints a table. Returns the ratio of the p99 slowdown of short requests with perfect estimates, by load. */
export function simulateLoads(
  calibration: Calibration,
  quick: boolean,
  loads: readonly number[] = usualLoads,
): Record<string, number> {
  const figures: Record<string, number> = {}
  const rows = loads.map((load) => {
    const runs = Array.from({ length: quick ? 3 : 8 }, (_, i) => runOf(i + 1, load, calibration))
    const over = (figure: (run: Row) => number) => median(runs.map(figure))
    const theirs = over(({ classic, shortMs }) => shortP99Of(classic, shortMs))
    const ratios = sigmas.map((_, i) => over(({ ours, shortMs }) => shortP99Of(ours[i]!, shortMs)) / theirs)
    const byUnits = over((run) => shortP99Of(run.byUnits, run.shortMs)) / theirs
    figures[`ratio_at_${load}`] = Math.round(ratios[0]! * 1000) / 1000
    const halves = [
      over(({ classic, shortMs }) => slowdownOf(classic, (sizeMs) => sizeMs <= shortMs, 0.5)),
      over(({ classic, shortMs }) => slowdownOf(classic, (sizeMs) => sizeMs > shortMs, 0.5)),
    ]
    return [`${load}`, ...[theirs, ...halves, ...ratios, byUnits].map((value) => significant(value))]
  })
  console.log(
    table(
      [
        ...['load', 'least-connections: short p99', 'short p50', 'long p50'],
        ...[...sigmas.map((sigma) => `ratio, σ ${sigma}`), 'by units'],
      ],
      rows,
    ),
  )
  console.log(
    'Slowdowns. Ratio: p99 of short requests with the default ÷ with least-connections. σ: lognormal error of estimates. By units: estimates are exact, but in units of work, of which workloads do different numbers in a second.\n',
  )
  return figures
}

function runOf(seed: number, load: number, calibration: Calibration): Row {
  const jobs = drawSizes({ seed, seconds, load }, calibration)
  const sizes = jobs.map(({ sizeMs }) => sizeMs).sort((a, b) => a - b)
  return {
    shortMs: quantile(sizes, shortPart),
    classic: played(jobs, estimatesOff(0, seed), { preset: 'classic' }),
    ours: sigmas.map((sigma) => played(jobs, estimatesOff(sigma, seed))),
    byUnits: played(jobs, ({ workload, sizeMs }) => {
      const { workPerMs, besidesMs } = calibration
      const nominalMs = ((sizeMs - besidesMs) * workPerMs.get(workload)!) / nominal
      return { work: (besidesMs + nominalMs) / sizeMs }
    }),
  }
}

type Estimates = (arrival: SizedArrival) => SimulatedJob['estimate']

function played(jobs: readonly SizedArrival[], estimates: Estimates, options?: Simulation): Served[] {
  const asked = jobs.map((job) => ({ atMs: job.atMs, sizeMs: job.sizeMs, estimate: estimates(job) }))
  return simulated(asked, options).map((responseMs, i) => ({ sizeMs: jobs[i]!.sizeMs, responseMs }))
}

/** With the intervals of a calibrated estimator. */
function estimatesOff(sigma: number, seed: number): Estimates {
  if (sigma === 0) return () => ({ work: 1 })
  const random = stream(seed, 'cold errors')
  const within = Math.exp(1.645 * sigma)
  return () => {
    const work = Math.exp(sigma * random.normal())
    return { work, low: work / within, high: work * within }
  }
}
