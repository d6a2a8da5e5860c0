/** The options that say who a client is, how much work each may ask for, and whether they share it. */

import { clientNamer } from '../front/request/client-name.ts'
import { ConfigError } from '../lib/errors.ts'
import type { ClusterOptions } from '../live/cluster.ts'
import type { MeterSetting } from '../model/metering.ts'
import { nominalRate } from '../worker/rates.ts'
import type { OptionValues } from './options.ts'

export const clientsOptions = {
  'client-by': {
    help:
      'what tells clients apart: address, key (bearer token or x-api-key) or header:NAME, ' +
      'which clients can forge unless a proxy sets it; header:x-forwarded-for takes the first address',
    default: 'address',
    value: 'HOW',
  },
  fair: {
    help: 'share the work between clients: who has had more than its share goes after the others',
    default: false,
  },
  'rate-limit': {
    help: 'work that each client may ask for a minute: units, or seconds of a core such as 90s; default: any',
    default: undefined,
    value: 'WORK',
  },
  'rate-burst': {
    help: "work that a client may ask for at once after a pause; default: a minute's worth",
    default: undefined,
    value: 'WORK',
  },
} as const

export function clientsFrom(
  values: OptionValues<typeof clientsOptions>,
  meter: MeterSetting,
): Pick<ClusterOptions, 'clientBy' | 'rateLimit' | 'fair'> {
  const { 'client-by': clientBy, fair, 'rate-limit': limit, 'rate-burst': burst } = values
  clientNamer(clientBy, '--client-by')
  if (limit === undefined) {
    if (burst !== undefined)
      throw new ConfigError(`--rate-burst = ${burst}: there must be a --rate-limit too`)
    return { clientBy, fair }
  }
  const rateLimit = {
    workPerMinute: readWork('--rate-limit', limit, meter),
    ...(burst !== undefined && { burst: readWork('--rate-burst', burst, meter) }),
  }
  return { clientBy, fair, rateLimit }
}

/** `90s` is what a core does in 90 s at the nominal rate, whatever is learned about the rates of workloads. */
function readWork(option: string, text: string, meter: MeterSetting): number {
  const [, digits, seconds] = /^(\d+(?:\.\d+)?(?:e\d+)?)(s?)$/i.exec(text.trim()) ?? []
  const work = Number(digits) * (seconds ? nominalRate(meter) * 1000 : 1)
  if (work > 0 && work < Infinity) return work
  throw new ConfigError(
    `${option} = ${text}: must be units of work, more than 0, or seconds of a core such as 90s`,
  )
}
