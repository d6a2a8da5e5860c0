/** The options that say how many workers there are to be; `up`, `simulate` and `compare` share them. */

import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { type ScalerName, type ScaleSpec, scalerOf, scalers } from '../systems/scalers.ts'
import type { OptionValues } from './options.ts'

/** `planned` needs a plan, which no option holds. */
const names = Object.keys(scalers).filter((name) => name !== 'planned' && name !== 'wandering')

export const scalingOptions = {
  scale: {
    help: `how the number of workers is decided: ${names.join(', ')}; default: work-forecast where it may change, else fixed`,
    default: undefined,
    value: 'NAME',
  },
  target: {
    help: 'of hpa and kpa: the share of the cores that is to be busy; 0: as is usual there, 0.7',
    default: 0,
    min: 0,
    max: 100,
  },
  promise: {
    help:
      'of work-forecast, for example "shortest 90 %: slowdown at most 1.5 at p99; largest 1 %: at most 1.5 on average", ' +
      'which is the default, "deadlines: 99 %" or "budget: 5 an hour"',
    default: undefined,
    value: 'TEXT',
  },
  'paid-minimum': {
    help: 'a worker is paid for at least so many seconds, and not ended sooner',
    default: 0,
    min: 0,
    max: 1e9,
    value: 'SECONDS',
  },
  'paid-period': {
    help: 'a worker is paid in whole periods of so many seconds, and ended near the end of one; 0: by the moment',
    default: 0,
    min: 0,
    max: 1e9,
    value: 'SECONDS',
  },
} as const

/** What the options say, checked; `pricePerHour` counts where a budget is promised. */
export function scaleFrom(
  values: OptionValues<typeof scalingOptions>,
  { min, max }: { min: number; max: number },
  pricePerHour = 0,
  preset?: ScaleSpec,
): ScaleSpec {
  const { scale, target, promise, 'paid-minimum': minimum, 'paid-period': period } = values
  const policy = (scale ?? preset?.policy ?? (max > min ? 'work-forecast' : 'fixed')) as ScalerName
  if (!names.includes(policy)) oneOf('--scale', policy, Object.fromEntries(names.map((name) => [name, true])))
  if (target > 0 && policy !== 'hpa' && policy !== 'kpa')
    throw new ConfigError(`--target = ${target}: is for --scale hpa and kpa, and this is ${policy}`)
  if (promise !== undefined && policy !== 'work-forecast')
    throw new ConfigError(`--promise = ${promise}: is for --scale work-forecast, and this is ${policy}`)
  const billing = {
    ...(minimum > 0 && { minimumMs: minimum * 1000 }),
    ...(period > 0 && { periodMs: period * 1000 }),
  }
  const spec: ScaleSpec = {
    ...(preset?.policy === policy && preset),
    min,
    max,
    ...(policy !== 'fixed' && { policy }),
    ...(target > 0 && { target }),
    ...(promise !== undefined && { promise }),
    ...(promise !== undefined && pricePerHour > 0 && { pricePerHour }),
    ...(Object.keys(billing).length > 0 && { billing }),
  }
  scalerOf(spec)
  return spec
}
