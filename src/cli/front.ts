import { commonOptions, meterOptions } from '../config/cluster-options.ts'
import { loadConfig } from '../config/load.ts'
import { networkOptions } from '../config/network-options.ts'
import type { OptionSpecs, OptionValues } from '../config/option.ts'
import { ConfigError } from '../lib/errors.ts'
import { runFront } from '../live/fronts/run-front.ts'
import { endWithParent, listenShared } from '../live/fronts/shared-port.ts'
import { defaultId, joinFrom, joinOptions, leaveOptions, untilSignal } from './cluster/joining.ts'
import { meterFrom } from './cluster/meter.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOnlyOptions } from './options.ts'

const options = {
  ...joinOptions,
  port: commonOptions.port,
  host: networkOptions.host,
  ...servedOptions,
  ...meterOptions,
  data: { ...commonOptions.data, help: 'data folder of a cluster on this machine, which holds the token' },
  hold: {
    type: 'number',
    help: 'how long requests are held while the cluster cannot be reached, in seconds',
    default: 60,
    min: 0,
    value: 'SECONDS',
  },
  ...leaveOptions,
  shared: { type: 'flag', help: 'set by the cluster that starts it: it shares its public port' },
} as const satisfies OptionSpecs

/** Another front, on any machine. */
export const front: Command = {
  summary: 'Join a cluster as another front.',
  usage: '--join URL [--token-file FILE] [options]',
  options,
  async run(args) {
    const values = readOnlyOptions('front', args, options)
    const { launch, shared } = values
    const joining = joinFrom(values, 'front')
    const signal = untilSignal()
    if (shared) endWithParent()
    await runFront(
      {
        id: values.id ?? launch ?? defaultId(),
        ...joining,
        ...(launch !== undefined && { launch }),
        ...(await servedFrom(values)),
        host: values.host,
        port: values.port,
        ...(shared && { share: listenShared }),
        holdMs: values.hold * 1000,
        leaveMs: values.leaveAfter * 1000,
        log: (line) => console.log(line),
      },
      signal,
    )
    // The channel to the parent process would keep this one alive.
    if (shared) process.disconnect?.()
    return 0
  },
}

async function servedFrom(values: OptionValues<typeof options>) {
  const { config: file, workloads } = values
  if (file === undefined)
    return { files: workloadFiles(workloads ?? bundledWorkloads), meter: meterFrom(values) }
  if (workloads !== undefined)
    throw new ConfigError(`--workloads = ${workloads}: a front has workloads or a --config, not both`)
  const { own } = await loadConfig(file)
  if (!own) throw new ConfigError(`--config = ${file}: must have workers or upstreams`)
  return { files: [], own }
}
