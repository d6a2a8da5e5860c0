/** What a request would cost here and now: work, time on the present fleet, the wait before it, and a price. */

import { ConfigError } from '../lib/errors.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import type { Estimate } from '../model/estimate.ts'
import type { Job } from '../model/job.ts'
import type { Reason } from '../model/reason.ts'
import type { BrainView, WorkerView } from '../model/view.ts'
import type { Question, Quote } from './estimator.ts'
import type { Rates } from './rates.ts'

/** `low` and `high` bound 90 % of such requests. */
export interface Range {
  expected: number
  low: number
  high: number
}

/** What clients are told. */
export interface QuoteDocument extends Estimate {
  workload: string
  memoryMb: number
  reason: Reason
  /** The reason in words. */
  why: string
  /** With a core to itself. */
  seconds: Range
  /** As long as no shorter requests come after it, it waits no longer. Null: no worker is ready. */
  waitSeconds: number | null
  /** In the money of `pricePerHour`. */
  price?: Range
}

/** The cluster as it is now. */
export interface Present {
  view: Pick<BrainView, 'workers' | 'waiting'>
  /** Of the units that are quoted. */
  rates: Rates
  /** Where the brain counts in other units than those: what a quote's work is in them, and their rates. */
  brain?: { work(quoted: number): number; rates: Rates }
  discipline: DisciplineName
  /** The jobs of the view. */
  jobOf(id: string): Job | undefined
  /** What a worker costs an hour. */
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
  const open = present.view.workers.filter(({ state, suspect }) => state === 'ready' && !suspect)
  const seconds = secondsOn(open, workload, quote, present.rates)
  const { pricePerHour } = present
  return {
    workload,
    ...{ work, low, high, memoryMb, source, reason },
    why: present.explain(reason),
    seconds: each(seconds, round),
    waitSeconds: waitSeconds(open, present.brain?.work(work) ?? work, present),
    ...(pricePerHour !== undefined && {
      price: each(seconds, (time) => round(((time / 3600) * pricePerHour) / meanCores(open))),
    }),
  }
}

/** Expected where a core is as likely as another, low on the fastest worker, high on the slowest. */
function secondsOn(
  open: readonly WorkerView[],
  workload: string,
  { work, low, high }: Pick<Estimate, 'work' | 'low' | 'high'>,
  rates: Rates,
): Range {
  const fleet = open.length > 0 ? open : [{ id: '', cores: 1 }]
  const secondsPerUnit = fleet.map(({ id }) => 1 / rates.of(id, workload))
  const cores = fleet.reduce((sum, worker) => sum + worker.cores, 0)
  const mean = fleet.reduce((sum, worker, i) => sum + worker.cores * secondsPerUnit[i]!, 0) / cores
  return {
    expected: work * mean,
    low: low * Math.min(...secondsPerUnit),
    high: high * Math.max(...secondsPerUnit),
  }
}

/**
 * The work that goes before it, shared by all cores: until it starts they are all busy with that. A bound as far as
 * estimates are right, and jobs that were paused find a core as soon as those that wait do.
 */
function waitSeconds(
  open: readonly WorkerView[],
  work: number,
  { view, brain, rates: quoted, discipline, jobOf }: Present,
): number | null {
  const rates = brain?.rates ?? quoted
  const cores = open.reduce((sum, worker) => sum + worker.cores, 0)
  if (cores === 0) return null
  const { ahead } = disciplines[discipline]
  const secondsPerUnit = new Map<string, number>()
  /** On any worker. */
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
      add(stays ? remaining : ahead(remaining, work), 1 / rates.of(worker.id, job?.workload ?? ''))
    }
  }
  for (const id of view.waiting) {
    const job = jobOf(id)
    if (job) add(ahead(job.work, work), perUnit(job.workload))
  }
  // With fewer jobs before it than cores, one of them is free for it.
  return jobs < cores ? 0 : round(seconds / cores)
}

function meanCores(open: readonly WorkerView[]): number {
  if (open.length === 0) return 1
  return open.reduce((sum, { cores }) => sum + cores, 0) / open.length
}

function each({ expected, low, high }: Range, change: (value: number) => number): Range {
  return { expected: change(expected), low: change(low), high: change(high) }
}

/** Nothing here is known to more digits. */
function round(value: number): number {
  return Number(value.toPrecision(6))
}
