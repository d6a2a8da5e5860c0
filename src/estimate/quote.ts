/** What a request would cost now: work, time on the current fleet, queueing time and price. */

import { ConfigError } from '../lib/errors.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Estimate, Overhead } from '../model/estimate.ts'
import type { Job } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'
import type { BrainView, WorkerView } from '../model/view.ts'
import { brainEstimate } from './brain-estimate.ts'
import type { Question, Quote } from './estimator.ts'
import { each, type Range, sumOf } from './range.ts'
import type { Rates } from './rates.ts'

/** The quote as clients receive it. */
export interface QuoteDocument extends Estimate {
  workload: string
  memoryMb: number
  reason: Reason
  /** The reason in words. */
  why: string
  /** From start to answer if it does not wait for a core, including what is not metered. */
  seconds: Range
  /** Upper bound of the wait unless shorter requests arrive later. Null if no worker is ready. */
  waitSeconds: number | null
  /** In the currency of `pricePerHour`. */
  price?: Range
}

/** The current state of the cluster. */
export interface Present {
  view: Pick<BrainView, 'workers' | 'waiting'>
  /** Rates of the quoted units. */
  rates: Rates
  /** If the brain counts in other units: the conversion of quoted work, and the rates of the brain's units. */
  brain?: { work(quoted: number): number; rates: Rates }
  discipline: DisciplineName
  /** Looks up the jobs of `view`. */
  jobOf(id: string): Job | undefined
  /** The overhead that the work of a job includes. */
  overheadOf(id: string): Overhead | undefined
  /** Price of one worker per hour. */
  pricePerHour: number | undefined
  /** Where an estimate comes from, in words. */
  explain(reason: Reason): string
}

export function checkPrice(pricePerHour: number | undefined): void {
  if (pricePerHour === undefined || (pricePerHour >= 0 && pricePerHour < Infinity)) return
  throw new ConfigError(`pricePerHour = ${pricePerHour}: must be a finite number, 0 or more`)
}

export function quoteDocument(question: Question, quote: Quote, present: Present): QuoteDocument {
  const { workload } = question
  const { work, low, high, memoryMb, source, reason } = quote
  const open = present.view.workers.filter(
    ({ state, suspect, notice }) => state === 'ready' && !suspect && !notice,
  )
  const metered = secondsOn(open, workload, quote, present.rates)
  const { overhead } = quote
  const elapsed = overhead?.elapsed?.()
  const seconds = elapsed ? sumOf(metered, each(elapsed, inSeconds)) : plus(metered, overhead)
  const { pricePerHour } = present
  const counted = brainEstimate(quote).work
  return {
    workload,
    ...{ work, low, high },
    ...(quote.unproven && { unproven: true as const }),
    ...{ memoryMb, source, reason },
    why: present.explain(reason),
    seconds: each(seconds, round),
    waitSeconds: waitSeconds(open, present.brain?.work(counted) ?? counted, present),
    ...(pricePerHour !== undefined && {
      price: each(plus(metered, overhead), (time) => round(((time / 3600) * pricePerHour) / meanCores(open))),
    }),
  }
}

/** `overhead` is in milliseconds. */
function plus({ expected, low, high }: Range, overhead: Range | undefined): Range {
  if (!overhead) return { expected, low, high }
  return {
    expected: expected + overhead.expected / 1000,
    low: low + overhead.low / 1000,
    high: high + overhead.high / 1000,
  }
}

function inSeconds(ms: number): number {
  return ms / 1000
}

/** 90 % of a normal distribution lie within this many standard deviations. */
const within = 1.645

/** Expected: mean over all cores; low: on the fastest worker; high: on the slowest. Both also allow for errors of the rate. */
function secondsOn(
  open: readonly WorkerView[],
  workload: string,
  { work, low, high }: Pick<Estimate, 'work' | 'low' | 'high'>,
  rates: Rates,
): Range {
  const fleet = open.length > 0 ? open : [{ id: '', cores: 1 }]
  const secondsPerUnit = fleet.map(({ id }) => 1 / rates.of(id, workload))
  const cores = fleet.reduce((sum, worker) => sum + worker.cores, 0)
  const sigma = Math.max(...fleet.map(({ id }) => rates.sigma?.(id, workload) ?? 0))
  const mean = fleet.reduce((sum, worker, i) => sum + worker.cores * secondsPerUnit[i]!, 0) / cores
  return {
    expected: work * mean,
    low: widened(work, low, -1, sigma) * Math.min(...secondsPerUnit),
    high: widened(work, high, 1, sigma) * Math.max(...secondsPerUnit),
  }
}

/**
 * The low (-1) or high (1) end of the interval of work, so wide that it allows for this error of the rate. The errors of
 * work and rate are independent, so their logs add up as squares.
 */
export function widened(work: number, bound: number, side: 1 | -1, sigma: number): number {
  if (!(work > 0 && bound > 0 && sigma > 0)) return bound
  return work * Math.exp(side * Math.hypot(Math.log(bound / work), within * sigma))
}

/**
 * The work ahead of the request divided by all cores, which are busy with it until the request starts. An upper bound
 * if estimates are right and paused jobs get a core as soon as queued jobs do.
 */
function waitSeconds(
  open: readonly WorkerView[],
  work: number,
  { view, brain, rates: quoted, discipline, jobOf, overheadOf }: Present,
): number | null {
  const rates = brain?.rates ?? quoted
  const cores = open.reduce((sum, worker) => sum + worker.cores, 0)
  if (cores === 0) return null
  const { ahead } = disciplines[discipline]
  const secondsPerUnit = new Map<string, number>()
  /** Mean over all workers. */
  const perUnit = (workload: string) => {
    const known = secondsPerUnit.get(workload)
    if (known !== undefined) return known
    const mean = secondsOn(open, workload, { work: 1, low: 1, high: 1 }, rates).expected
    secondsPerUnit.set(workload, mean)
    return mean
  }
  let jobs = 0
  let seconds = 0
  const add = (work: number, secondsEach: number) => {
    if (work > 0) jobs++
    seconds += work * secondsEach
  }
  for (const worker of open) {
    for (const { job: id, remaining, running } of worker.jobs) {
      const job = jobOf(id)
      const stays = running && job?.preemptible === false
      const each = 1 / rates.of(worker.id, job?.workload ?? '')
      add(stays ? remaining : ahead(remaining, work), withOverhead(each, job, overheadOf(id)))
    }
  }
  for (const id of view.waiting) {
    const job = jobOf(id)
    if (job) add(ahead(job.work, work), withOverhead(perUnit(job.workload), job, overheadOf(id)))
  }
  // With fewer jobs ahead than cores, a core is free.
  return jobs < cores ? 0 : round(seconds / cores)
}

/** Seconds per unit of a job whose work includes overhead, which is a time, whatever the rate of the workload. */
function withOverhead(secondsEach: number, job: Job | undefined, overhead: Overhead | undefined): number {
  if (!job || !overhead || !(job.work > overhead.work)) return secondsEach
  return ((job.work - overhead.work) * secondsEach + overhead.expected / 1000) / job.work
}

function meanCores(open: readonly WorkerView[]): number {
  if (open.length === 0) return 1
  return open.reduce((sum, { cores }) => sum + cores, 0) / open.length
}

/** Estimates are not known to more digits. */
function round(value: number): number {
  return Number(value.toPrecision(6))
}
