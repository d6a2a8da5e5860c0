/** The jobs of a run, from a seed: heavy-tailed sizes, a mix of the nine workloads, Poisson arrivals. */
import { type Random, stream } from '../../src/lib/random.ts'
import { pareto } from '../../src/simulate/sizes.ts'
import { type Request, type StreamName, streamNames, weighted } from '../estimate/stream.ts'
import { makers } from './requests.ts'

export interface LiveJob extends Request {
  workload: StreamName
}

/** A job with its time alone on a core. */
export interface SizedJob extends LiveJob {
  sizeMs: number
}

/** A job with the time at which it is sent, relative to the start of the run. */
export interface TimedJob extends SizedJob {
  atMs: number
  /** False: part of the warm-up. */
  counts: boolean
}

const leastMs = 10
/** Sizes span three orders of magnitude; the largest 5 % hold more than half of the work. */
const usualMostMs = 6000

/** Jobs of about the drawn sizes. */
export function drawJobs(seed: number, count: number, mostMs = usualMostMs): LiveJob[] {
  const sizes = pareto(0.85, leastMs, mostMs)
  const random = stream(seed, 'live jobs')
  return strata(count, random).map((part) => {
    const ms = sizes.draw({ ...random, next: () => part })
    const fitting = streamNames.filter((name) => ms <= makers[name].mostMs)
    const weights = Object.fromEntries(fitting.map((name) => [name, makers[name].weight]))
    const workload = weighted(random, weights) as StreamName
    return { workload, ...makers[workload].make(ms, random) }
  })
}

/** Stratified draws from 0 to 1, shuffled: seeds then differ less in their tails. */
function strata(count: number, random: Random): number[] {
  const parts = Array.from({ length: count }, (_, i) => (i + random.next()) / count)
  for (let i = parts.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[parts[i], parts[j]] = [parts[j]!, parts[i]!]
  }
  return parts
}

/**
 * Gives jobs their arrival times, at a mean load of `load` cores. Given the count of a Poisson process, its times are
 * independent uniform draws.
 */
export function schedule<Sized extends SizedJob>(
  jobs: readonly Sized[],
  { seed, load, uncounted }: { seed: number; load: number; uncounted: number },
): (Sized & TimedJob)[] {
  const random = stream(seed, 'live arrivals')
  const work = jobs.reduce((sum, { sizeMs }) => sum + sizeMs, 0)
  const instants = jobs.map(() => (random.next() * work) / load).sort((a, b) => a - b)
  return jobs.map((job, i) => ({ ...job, atMs: instants[i]!, counts: i >= uncounted }))
}
