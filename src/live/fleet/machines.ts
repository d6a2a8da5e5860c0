/** Machines elsewhere on which the cluster's workers run. AWS code is loaded only here, and only if it is configured. */

import type { CloudWatchApi } from '../../aws/cloudwatch/cpu-metrics.ts'
import { type MeterSetting, meterFlags } from '../../model/metering.ts'
import type { Provider, ProviderEvents } from '../../model/provider.ts'
import type { ClusterOptions } from '../cluster-options.ts'
import { limitFlags } from './worker-command.ts'

/** AWS announces the interruption of a spot instance 120 s ahead, and the worker polls for it every 5 s. */
const spotLeaveSeconds = 110

export interface Machines {
  /** Launches of an earlier brain whose machines run. `joined`: they had time to join it. */
  left: readonly { launch: string; joined: boolean }[]
  open(events: ProviderEvents, log: (line: string) => void): Provider
  /** The machine of a launch, as its provider names it. */
  machineOf(launch: string): string | undefined
  /** Undefined: workers report their CPU time themselves. */
  cloudWatch: CloudWatchApi | undefined
}

export interface MachinesParts {
  options: ClusterOptions
  meter: MeterSetting
  /** With which workers join. */
  token: string
  /** Time allowed for a worker to join after its launch. */
  bootMs: number
}

/** Undefined: workers run on this machine. Rejects with a `ConfigError` if the provider refuses the configuration. */
export async function openMachines({
  options,
  meter,
  token,
  bootMs,
}: MachinesParts): Promise<Machines | undefined> {
  const { ec2, supervisor } = options
  if (!ec2) return undefined
  const { openFleet } = await import('../../aws/ec2/open-fleet.ts')
  const isFirst = supervisor?.memory === undefined
  const workerArgs = [
    ...ec2.code,
    ...limitFlags(options),
    ...(options.own ? [] : meterFlags(meter)),
    ...(ec2.spot ? ['--spot-notices', '--leave-after', `${spotLeaveSeconds}`] : []),
  ]
  const opened = await openFleet({ ...ec2, workerArgs }, token, isFirst)
  const now = Date.now()
  let fleet: ReturnType<typeof opened.fleet> | undefined
  return {
    left: opened.left.map(({ launch, since }) => ({ launch, joined: now - since > bootMs })),
    open: (events, log) => {
      fleet = opened.fleet({ events, log })
      return fleet
    },
    machineOf: (launch) => fleet?.instanceOf(launch),
    cloudWatch: ec2.cpu ? await openCloudWatch(opened.region, isFirst) : undefined,
  }
}

async function openCloudWatch(region: string, isFirst: boolean): Promise<CloudWatchApi> {
  const [{ cloudWatchApi }, { checkCloudWatch }] = await Promise.all([
    import('../../aws/cloudwatch/sdk-api.ts'),
    import('../../aws/cloudwatch/check.ts'),
  ])
  const api = await cloudWatchApi(region)
  if (isFirst) await checkCloudWatch(api, Date.now())
  return api
}
