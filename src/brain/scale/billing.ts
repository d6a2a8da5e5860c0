/** For how long a worker is paid at the least, and in which steps. */

import { ConfigError } from '../../lib/errors.ts'

export interface Billing {
  /** A worker is paid for at least so long: it is not ended sooner. */
  minimumMs?: number
  /** It is paid in whole periods: it is ended near the end of one. */
  periodMs?: number
}

export function checkBilling(billing: Billing = {}): Billing {
  for (const [name, ms] of Object.entries(billing))
    if (!(ms >= 0 && ms < Infinity))
      throw new ConfigError(`scale.billing.${name} = ${ms}: must be milliseconds, 0 or more`)
  return billing
}
