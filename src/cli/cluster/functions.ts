/** Function and price options of `up`, `simulate` and `compare`. */

import type { functionOptions, priceOptions, scalingOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { ClusterOptions } from '../../live/cluster.ts'
import type { Prices } from '../../model/prices.ts'
import type { Preset } from '../../systems/preset.ts'

export function pricesFrom(values: OptionValues<typeof priceOptions & typeof scalingOptions>): Prices {
  return {
    workerHour: values.pricePerHour,
    workerLeastMs: values.paidMinimum * 1000,
    workerStepMs: Math.max(1, values.paidPeriod * 1000),
    gbSecond: values.pricePerGbSecond,
    request: values.pricePerInvocation,
  }
}

/** `serverConfig`: the configuration file, if the cluster serves an existing server. */
export function functionsFrom(
  values: OptionValues<typeof functionOptions>,
  command: string[],
  serverConfig: string | undefined,
  preset?: Preset['overflow'],
): Pick<ClusterOptions, 'functions'> {
  const { priceOfWaiting: waitingPerHour } = values
  const most = values.functions || (preset?.concurrency ?? 0)
  if (most === 0) return {}
  if (serverConfig !== undefined)
    throw new ConfigError(
      `--functions = ${most}: cannot be combined with the existing server in ${serverConfig}; functions run workloads`,
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
