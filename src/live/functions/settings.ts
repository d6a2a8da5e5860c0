/** Settings of a live cluster's functions, for the brain and for the provider. */

import { type OverflowOptions, overflowDefaults } from '../../brain/functions/overflow-spec.ts'
import type { ClusterFunctions, FunctionLimits, FunctionProvider } from '../../front/transports/function.ts'
import { ConfigError } from '../../lib/errors.ts'
import { type MeterSetting, meterFlags } from '../../model/metering.ts'
import { usualPrices } from '../../model/prices.ts'
import { nominalRate } from '../../worker/rates.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import { LocalFunctions } from './local.ts'

export interface FunctionSettings {
  id: string
  limits: FunctionLimits
  /** The command that starts one with these modules of workloads. */
  command(files: readonly string[]): string[]
  brain: OverflowOptions
  /** Undefined: processes of this machine. */
  provider: FunctionProvider | undefined
}

/** Initial estimate of the cold start of a process on this machine; the brain learns the real time. */
const coldMs = 800

/** Undefined: no functions. */
export function functionSettings(options: ClusterOptions, meter: MeterSetting): FunctionSettings | undefined {
  const { functions, own, dataDir, prices, pricePerHour = 0, passEnv = [] } = options
  if (!functions) return undefined
  if (own)
    throw new ConfigError(
      `functions = ${functions.most}: not supported for an existing server (workers, upstreams)`,
    )
  const { provider } = functions
  const { memoryMb: memory, timeoutMs: timeout } = overflowDefaults
  const keep = provider?.keepWarmMs ?? overflowDefaults.keepWarmMs
  const { most, concurrency = most, memoryMb = memory, timeoutMs = timeout, keepWarmMs = keep } = functions
  const { perWorkload = false } = functions
  const limits = { concurrency, memoryMb, timeoutMs, keepWarmMs, perWorkload }
  const { gbSecond, request } = { ...usualPrices, ...prices }
  const { waitingPerHour = overflowDefaults.prices.waitingHour, patienceMs = overflowDefaults.patienceMs } =
    functions
  return {
    id: provider?.id ?? overflowDefaults.function,
    limits,
    provider,
    command: (files) => [
      ...functions.command,
      ...['--workloads', files.join(',')],
      ...['--data', dataDir],
      ...['--memory', `${memoryMb}`],
      ...(passEnv.length > 0 ? ['--pass-env', passEnv.join(',')] : []),
      ...meterFlags(meter),
    ],
    brain: {
      ...{ memoryMb, timeoutMs, keepWarmMs, patienceMs, coldMs: provider?.coldMs ?? coldMs },
      ...(provider && { function: provider.id }),
      workPerSecond: nominalRate(meter) * 1000 * (provider?.speed(memoryMb) ?? 1),
      prices: { workerHour: pricePerHour, waitingHour: waitingPerHour, gbSecond, request },
      ...functions.brain,
      concurrency: most,
    },
  }
}

export interface OpenFunctionsParts {
  files: readonly string[]
  token: string
  code(): Readonly<Record<string, string>>
  log(line: string): void
}

export function openFunctions(
  { id, limits, command, provider, brain }: FunctionSettings,
  { files, token, code, log }: OpenFunctionsParts,
): ClusterFunctions {
  if (!provider) return new LocalFunctions({ ...limits, id, command: command(files), token, log })
  const { workPerSecond, patienceMs = overflowDefaults.patienceMs } = brain
  return provider.open({ ...{ id, limits, workPerSecond, patienceMs, token, code, log } })
}
