/** Client options: identification, rate limits, fair shares. */

import type { clientOptions, limitOptions } from '../../config/cluster-options.ts'
import type { inputOptions, proxyOptions } from '../../config/input-options.ts'
import type { jobOptions } from '../../config/job-options.ts'
import type { keepOptions } from '../../config/keep-options.ts'
import type { networkOptions } from '../../config/network-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { readOrigins } from '../../front/cross-origin.ts'
import { clientNamer } from '../../front/request/client-name.ts'
import { readProxies } from '../../front/request/trusted-proxies.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { ClusterOptions } from '../../live/cluster.ts'
import type { MeterSetting } from '../../model/metering.ts'
import { nominalRate } from '../../worker/rates.ts'
import { asyncAboveFrom } from './keep.ts'
import { tlsFrom } from './tls.ts'

type Values = OptionValues<
  typeof clientOptions & typeof inputOptions & typeof proxyOptions & typeof jobOptions
> &
  Pick<OptionValues<typeof limitOptions>, 'processMemory'> &
  Partial<Pick<OptionValues<typeof keepOptions>, 'asyncAbove'>> &
  Pick<OptionValues<typeof networkOptions>, 'tlsCert' | 'tlsKey'>

export function clientsFrom(
  values: Values,
  meter: MeterSetting,
  serverConfig?: string,
): Pick<ClusterOptions, 'clientBy' | 'rateLimit' | 'fair' | 'frontLimits'> {
  const { clientBy, fair, rateLimit: limit, rateBurst: burst } = values
  if (values.cors !== undefined && serverConfig !== undefined)
    throw new ConfigError(
      `--cors = ${values.cors}: cannot be combined with the existing server in ${serverConfig}, which answers for itself`,
    )
  const frontLimits = frontLimitsFrom(values)
  clientNamer(clientBy, frontLimits.trustedProxies, '--client-by')
  if (limit === undefined) {
    if (burst !== undefined) throw new ConfigError(`--rate-burst = ${burst}: requires --rate-limit`)
    return { clientBy, fair, frontLimits }
  }
  const rateLimit = {
    workPerMinute: readWork('--rate-limit', limit, meter),
    ...(burst !== undefined && { burst: readWork('--rate-burst', burst, meter) }),
  }
  return { clientBy, fair, rateLimit, frontLimits }
}

function frontLimitsFrom(values: Values) {
  const { exposeErrors = false, trustedProxies: proxies, maxParams, bodyMemory, bodyDisk } = values
  const { clientConnections, clientRequests, processMemory: processMb, minRate, answerBuffer } = values
  const { proxyProtocol = false, cors } = values
  if (proxyProtocol && proxies === undefined)
    throw new ConfigError(
      '--proxy-protocol: requires --trusted-proxies, because clients can send its header too',
    )
  const tls = tlsFrom(values.tlsCert, values.tlsKey)
  return {
    ...{ proxyProtocol, ...(tls && { tls }) },
    ...{ exposeErrors, clientConnections, clientRequests, processMb, minRate },
    fastPath: values.fastPath === 'on',
    asyncAboveMs: asyncAboveFrom(values),
    answerDiskBytes: answerBuffer * 1024 * 1024,
    corsOrigins: cors === undefined ? [] : readOrigins(cors, '--cors'),
    trustedProxies: proxies === undefined ? [] : readProxies(proxies, '--trusted-proxies'),
    paramsBytes: maxParams * 1024,
    bodiesMemoryBytes: bodyMemory * 1024 * 1024,
    bodiesDiskBytes: bodyDisk * 1024 * 1024,
  }
}

/** `90s` is the work of one core in 90 s at the nominal rate; learned rates do not change it. */
function readWork(option: string, text: string, meter: MeterSetting): number {
  const [, digits, seconds] = /^(\d+(?:\.\d+)?(?:e\d+)?)(s?)$/i.exec(text.trim()) ?? []
  const work = Number(digits) * (seconds ? nominalRate(meter) * 1000 : 1)
  if (work > 0 && work < Infinity) return work
  throw new ConfigError(
    `${option} = ${text}: must be units of work above 0, or seconds of a core such as 90s`,
  )
}
