/** The options about functions and money; `up`, `simulate` and `compare` share them. */

import { overflowDefaults } from '../brain/functions/overflow-spec.ts'
import { ConfigError } from '../lib/errors.ts'
import type { ClusterOptions } from '../live/cluster.ts'
import { type Prices, usualPrices } from '../story/money.ts'
import type { Preset } from '../systems/preset.ts'
import type { OptionValues } from './options.ts'
import type { scalingOptions } from './scaling.ts'

export const moneyOptions = {
  'price-per-hour': {
    help: 'what a worker costs an hour, in any money: estimates then name a price; 0: none',
    default: 0,
    min: 0,
    max: 1e9,
    value: 'PRICE',
  },
} as const

export const overflowOptions = {
  functions: {
    help: 'functions that take jobs which would wait, where that pays: so many at a time; 0: none',
    default: 0,
    min: 0,
    max: 10_000,
    whole: true,
  },
  'price-per-gb-second': {
    help: 'what a function costs for each GB of its memory and second',
    default: usualPrices.gbSecond,
    min: 0,
    max: 1e9,
    value: 'PRICE',
  },
  'price-per-invocation': {
    help: 'and for each job',
    default: usualPrices.request,
    min: 0,
    max: 1e9,
    value: 'PRICE',
  },
  'price-of-waiting': {
    help: "what an hour of a job's waiting is worth: functions are used where they cost less",
    default: overflowDefaults.prices.waitingHour,
    min: 0,
    max: 1e9,
    value: 'PRICE',
  },
} as const

export function pricesFrom(
  values: OptionValues<typeof moneyOptions & typeof overflowOptions & typeof scalingOptions>,
): Prices {
  return {
    workerHour: values['price-per-hour'],
    workerLeastMs: values['paid-minimum'] * 1000,
    workerStepMs: Math.max(1, values['paid-period'] * 1000),
    gbSecond: values['price-per-gb-second'],
    request: values['price-per-invocation'],
  }
}

/** `own`: the configuration that describes an own server, if it is one that is served. */
export function functionsFrom(
  values: OptionValues<typeof overflowOptions>,
  command: string[],
  own: string | undefined,
  preset?: Preset['overflow'],
): Pick<ClusterOptions, 'functions'> {
  const { 'price-of-waiting': waitingPerHour } = values
  const most = values.functions || (preset?.concurrency ?? 0)
  if (most === 0) return {}
  if (own !== undefined)
    throw new ConfigError(
      `--functions = ${most}: does not go with the own server in ${own}; functions run workloads`,
    )
  const { perWorkload, memoryMb, timeoutMs, ...brain } = preset ?? {}
  return {
    functions: {
      ...{ most, command, waitingPerHour },
      ...(perWorkload && { perWorkload }),
      ...(memoryMb !== undefined && { memoryMb }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(preset && { brain }),
    },
  }
}
