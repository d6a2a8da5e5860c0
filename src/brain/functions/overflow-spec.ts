/** The configuration of functions: limits, speed and prices. */

import { checkNumber } from '../../lib/checks.ts'
import { ConfigError } from '../../lib/errors.ts'
import { usualPrices, usualWaitingHour } from '../../model/prices.ts'

export interface OverflowSpec {
  /** Its name, in place of a worker's, in events and actions. */
  function: string
  /** `pays`: a job goes if it is done sooner and that is worth the price. `small`: if no worker takes it and it is small. */
  rule: 'pays' | 'small'
  /** Under the rule `small`: the maximum predicted work. */
  mostWork: number
  /** `any`: queued jobs may overflow too. `arrival`: only arriving jobs; queued jobs are for workers. */
  when: 'any' | 'arrival'
  /**
   * A job that a function throttles (429), refuses (503) or does not answer in time is retried there, up to `most` attempts,
   * after a pause that doubles each time; then it is for workers. Null: functions get no jobs for a while instead.
   */
  retries: { most: number; backoffMs: number } | null
  /** True: a job that a worker has failed goes to a function before another worker, if the rule allows. */
  afterFailure: boolean
  /** True: a job whose workload fails in a function is retried on a worker. */
  errorsReturn: boolean
  /** Maximum number of jobs in functions at a time. */
  concurrency: number
  /** Memory and timeout of a function. */
  memoryMb: number
  timeoutMs: number
  workPerSecond: number
  /** Cold start time, until attempts have shown it, and how long an idle function stays warm. */
  coldMs: number
  keepWarmMs: number
  /** A function that is silent for this time, and for ten times its predicted time, is given up. */
  patienceMs: number
  /** In one currency: of a worker and of a job's waiting per hour, of functions per GB-second and per request. */
  prices: { workerHour: number; waitingHour: number; gbSecond: number; request: number }
  /** The interval between looks at the queue. */
  everyMs: number
}

/** Usual limits and prices. An hour of a client's waiting is worth more than an hour of a machine. */
export const overflowDefaults = {
  function: 'function:local',
  rule: 'pays',
  mostWork: Infinity,
  when: 'any',
  retries: null,
  afterFailure: false,
  errorsReturn: false,
  memoryMb: 512,
  timeoutMs: 900_000,
  coldMs: 500,
  keepWarmMs: 60_000,
  patienceMs: 30_000,
  prices: {
    workerHour: usualPrices.workerHour,
    waitingHour: usualWaitingHour,
    gbSecond: usualPrices.gbSecond,
    request: usualPrices.request,
  },
  everyMs: 250,
} as const satisfies Partial<OverflowSpec>

/** Options without defaults are required. */
export type OverflowOptions = Pick<OverflowSpec, 'concurrency' | 'workPerSecond'> &
  Partial<Omit<OverflowSpec, 'prices'>> & { prices?: Partial<OverflowSpec['prices']> }

export function overflowSpec({ prices, ...options }: OverflowOptions): OverflowSpec {
  const spec = { ...overflowDefaults, ...options, prices: { ...overflowDefaults.prices, ...prices } }
  const { concurrency } = spec
  checkNumber('overflow.concurrency', concurrency, { min: 1, integer: true })
  if (spec.rule !== 'pays' && spec.rule !== 'small')
    throw new ConfigError(`overflow.rule = ${spec.rule}: must be pays or small`)
  if (spec.when !== 'any' && spec.when !== 'arrival')
    throw new ConfigError(`overflow.when = ${spec.when}: must be any or arrival`)
  if (spec.retries) {
    checkNumber('overflow.retries.most', spec.retries.most, { min: 1, integer: true })
    checkNumber('overflow.retries.backoffMs', spec.retries.backoffMs, { min: 0 })
  }
  for (const name of ['memoryMb', 'timeoutMs', 'workPerSecond', 'everyMs'] as const)
    checkNumber(`overflow.${name}`, spec[name], { above: 0 })
  for (const name of ['coldMs', 'keepWarmMs', 'patienceMs'] as const)
    checkNumber(`overflow.${name}`, spec[name], { min: 0 })
  for (const [name, price] of Object.entries(spec.prices))
    checkNumber(`overflow.prices.${name}`, price, { min: 0 })
  return spec
}
