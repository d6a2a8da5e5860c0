/** How workers are billed. */

import { ConfigError } from '../../lib/errors.ts'

export interface Billing {
  /** The shortest time that is billed: no worker is ended sooner. */
  minimumMs?: number
  /** Whole periods are billed: a worker is ended near the end of one. */
  periodMs?: number
}

export function checkBilling(billing: Billing = {}): Billing {
  for (const [name, ms] of Object.entries(billing))
    if (!(ms >= 0 && ms < Infinity))
      throw new ConfigError(`scale.billing.${name} = ${ms}: must be milliseconds, 0 or more`)
  return billing
}
