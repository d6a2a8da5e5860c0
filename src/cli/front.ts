import { commonOptions, meterOptions } from '../config/cluster-options.ts'
import { loadConfig } from '../config/load.ts'
import { networkOptions } from '../config/network-options.ts'
import type { OptionSpecs, OptionValues } from '../config/option.ts'
import { ConfigError } from '../lib/errors.ts'
import { frontParent } from '../live/fronts/front-channel.ts'
import { runFront } from '../live/fronts/run-front.ts'
import { defaultId, joinFrom, joinOptions, leaveOptions, untilSignal } from './cluster/joining.ts'
import { meterExtrasOption, meterFrom } from './cluster/meter.ts'
import { tlsFrom } from './cluster/tls.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOnlyOptions } from './options.ts'

const options = {
  ...joinOptions,
  port: commonOptions.port,
  host: networkOptions.host,
  tlsCert: networkOptions.tlsCert,
  tlsKey: networkOptions.tlsKey,
  ...servedOptions,
  ...meterOptions,
  ...meterExtrasOption,
  data: { ...commonOptions.data, help: 'data folder of a cluster on this machine, which holds the token' },
  hold: {
    type: 'number',
    help: 'how long requests are held while the cluster cannot be reached, in seconds',
    default: 60,
    min: 0,
    value: 'SECONDS',
  },
  ...leaveOptions,
  shared: { type: 'flag', help: 'set by the cluster that starts it: it is sent its settings and its port' },
} as const satisfies OptionSpecs

/** Another front, on any machine. */
export const front: Command = {
  summary: 'Join a cluster as another front.',
  usage: '--join URL [--token-file FILE] [options]',
  options,
  async run(args) {
    const signal = untilSignal()
    const given = readOnlyOptions('front', args, options)
    const parent = given.shared ? frontParent() : undefined
    const settings = await parent?.settings(signal)
    if (settings || !parent) {
      const values = settings ? readOnlyOptions('front', [...args, ...settings.args], options) : given
      const { launch } = values
      await runFront(
        {
          id: values.id ?? launch ?? defaultId(),
          ...joinFrom(values, 'front', settings?.token),
          ...(launch !== undefined && { launch }),
          ...(await servedFrom(values)),
          host: values.host,
          port: values.port,
          tls: tlsFrom(values.tlsCert, values.tlsKey),
          ...(parent && { share: parent }),
          holdMs: values.hold * 1000,
          leaveMs: values.leaveAfter * 1000,
          log: (line) => console.log(line),
        },
        signal,
      )
    }
    parent?.close()
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
