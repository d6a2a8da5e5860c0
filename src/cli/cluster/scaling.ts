/** Scaling options of `up`, `simulate` and `compare`. */

import type { scalingOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { type ScalerName, type ScaleSpec, scalerOf } from '../../systems/scalers.ts'

/** Checked. `pricePerHour` counts if the promise is a budget. */
export function scaleFrom(
  values: OptionValues<typeof scalingOptions>,
  { min, max }: { min: number; max: number },
  pricePerHour = 0,
  preset?: ScaleSpec,
): ScaleSpec {
  const { scale, target, promise, paidMinimum, paidPeriod } = values
  const policy = (scale ?? preset?.policy ?? (max > min ? 'work-forecast' : 'fixed')) as ScalerName
  if (target > 0 && policy !== 'hpa' && policy !== 'kpa')
    throw new ConfigError(`--target = ${target}: requires --scale hpa or kpa; this is ${policy}`)
  if (promise !== undefined && policy !== 'work-forecast')
    throw new ConfigError(`--promise = ${promise}: requires --scale work-forecast; this is ${policy}`)
  const billing = {
    ...(paidMinimum > 0 && { minimumMs: paidMinimum * 1000 }),
    ...(paidPeriod > 0 && { periodMs: paidPeriod * 1000 }),
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
