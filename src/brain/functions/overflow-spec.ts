/** What the brain is told of functions: their limits, their speed, and prices. */

import { ConfigError } from '../../lib/errors.ts'

export interface OverflowSpec {
  /** The name that stands where attempts in workers have the worker's. */
  function: string
  /** Who goes: whoever is done sooner there where that pays, or whoever finds no worker and is small enough. */
  rule: 'pays' | 'small'
  /** Of `small`: the most work. */
  mostWork: number
  /** When: whenever a job would wait, or only as it comes; then who has been put into the queue stays with the fleet. */
  when: 'any' | 'arrival'
  /**
   * What a function turns away (429), refuses (503) or does not answer in time is tried there again: so often in all, after
   * a pause that doubles each time; then it is for the fleet. Null: functions are left alone for a while instead.
   */
  retries: { most: number; backoffMs: number } | null
  /** True: what a worker has just failed goes there before it goes to another, if the rule lets it. */
  afterFailure: boolean
  /** True: a workload's own error there is no answer, and a worker does the job. */
  errorsReturn: boolean
  /** Most jobs that are away at a time. */
  concurrency: number
  /** What a function has, and for how long one may run. */
  memoryMb: number
  timeoutMs: number
  workPerSecond: number
  /** How long one takes to start, and how long one that is idle stays: first guesses, of which the first is learned. */
  coldMs: number
  keepWarmMs: number
  /** A function of which nothing is heard for so long, and ten times as long as it should take, is given up. */
  patienceMs: number
  /** In one money: of a worker and of a job's waiting for an hour, of a GB of function for a second, and of a request. */
  prices: { workerHour: number; waitingHour: number; gbSecond: number; request: number }
  /** How often jobs that wait are thought over. */
  everyMs: number
}

/** Limits and prices as functions usually have them. An hour of somebody's waiting is worth more than one of a machine. */
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
  prices: { workerHour: 0, waitingHour: 1, gbSecond: 0.0000166667, request: 0.0000002 },
  everyMs: 250,
} as const satisfies Partial<OverflowSpec>

/** What must be said of functions; the rest has defaults. */
export type OverflowOptions = Pick<OverflowSpec, 'concurrency' | 'workPerSecond'> &
  Partial<Omit<OverflowSpec, 'prices'>> & { prices?: Partial<OverflowSpec['prices']> }

export function overflowSpec({ prices, ...options }: OverflowOptions): OverflowSpec {
  const spec = { ...overflowDefaults, ...options, prices: { ...overflowDefaults.prices, ...prices } }
  const { concurrency } = spec
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new ConfigError(`overflow.concurrency = ${concurrency}: must be a whole number, 1 or more`)
  if (spec.rule !== 'pays' && spec.rule !== 'small')
    throw new ConfigError(`overflow.rule = ${spec.rule}: must be pays or small`)
  if (spec.when !== 'any' && spec.when !== 'arrival')
    throw new ConfigError(`overflow.when = ${spec.when}: must be any or arrival`)
  if (spec.retries && !(Number.isInteger(spec.retries.most) && spec.retries.most >= 1))
    throw new ConfigError(`overflow.retries.most = ${spec.retries.most}: must be a whole number, 1 or more`)
  if (spec.retries) notBelow('retries.backoffMs', spec.retries.backoffMs)
  for (const name of ['memoryMb', 'timeoutMs', 'workPerSecond', 'everyMs'] as const) above(name, spec[name])
  for (const name of ['coldMs', 'keepWarmMs', 'patienceMs'] as const) notBelow(name, spec[name])
  for (const [name, price] of Object.entries(spec.prices)) notBelow(`prices.${name}`, price)
  return spec
}

function above(name: string, value: number): void {
  if (!(value > 0 && value < Infinity))
    throw new ConfigError(`overflow.${name} = ${value}: must be a number above 0`)
}

function notBelow(name: string, value: number): void {
  if (!(value >= 0 && value < Infinity))
    throw new ConfigError(`overflow.${name} = ${value}: must be a number, 0 or more`)
}
