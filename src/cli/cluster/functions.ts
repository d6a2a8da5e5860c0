/** Function and price options of `up`, `simulate` and `compare`. */

import type {
  functionOptions,
  functionProviderOptions,
  priceOptions,
  scalingOptions,
} from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import type { FunctionProvider } from '../../front/transports/function.ts'
import { lambdaProvider } from '../../lambda/functions.ts'
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
  values: OptionValues<typeof functionOptions & typeof functionProviderOptions>,
  command: string[],
  serverConfig: string | undefined,
  { overflow: preset, lambdaFunctions }: Pick<Preset, 'overflow' | 'lambdaFunctions'> = {},
): Pick<ClusterOptions, 'functions'> {
  const { priceOfWaiting: waitingPerHour } = values
  const most = values.functions || (preset?.concurrency ?? 0)
  if (most === 0) return {}
  if (serverConfig !== undefined)
    throw new ConfigError(
      `--functions = ${most}: cannot be combined with the existing server in ${serverConfig}; functions run workloads`,
    )
  const { perWorkload, memoryMb, timeoutMs, ...brain } = preset ?? {}
  const provider = providerFrom(values, lambdaFunctions)
  return {
    functions: {
      ...{ most, command, waitingPerHour },
      ...(provider && { provider }),
      ...(perWorkload && { perWorkload }),
      ...(memoryMb !== undefined && { memoryMb }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(preset && { brain }),
    },
  }
}

const usualLambdaFunction = 'plimsoll'

/** Undefined: processes of this machine. */
function providerFrom(
  { functionProvider, lambdaFunctions: names }: OptionValues<typeof functionProviderOptions>,
  ofPreset: Preset['lambdaFunctions'],
): FunctionProvider | undefined {
  if (functionProvider === 'lambda') {
    const named = ofPreset && Object.entries(ofPreset).map(([workload, name]) => `${workload}=${name}`)
    return lambdaProvider(names ?? named?.join(',') ?? usualLambdaFunction)
  }
  if (names !== undefined)
    throw new ConfigError(`--lambda-functions = ${names}: requires --function-provider lambda`)
  return undefined
}
