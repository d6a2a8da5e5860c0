import { hostname } from 'node:os'
import { loadConfig } from '../config/load.ts'
import { ConfigError } from '../lib/errors.ts'
import { runFront } from '../live/fronts/run-front.ts'
import { endWithParent, listenShared } from '../live/fronts/shared-port.ts'
import { meterFrom, meterOptions } from './meter.ts'
import { type Command, type OptionValues, readOptions } from './options.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './workload-files.ts'

const options = {
  join: { help: "the cluster's admin address, for example http://127.0.0.1:8081", default: '', value: 'URL' },
  token: { help: 'the secret to join with; or set PLIMSOLL_TOKEN', default: '', value: 'T' },
  id: { help: 'its name; default: host and process', default: undefined },
  port: { help: 'public port; 0: any', default: 8080, min: 0, max: 65_535, whole: true },
  host: { help: 'address to listen on', default: '127.0.0.1' },
  ...servedOptions,
  ...meterOptions,
  hold: {
    help: 'how many seconds requests are held while the cluster cannot be reached',
    default: 60,
    min: 0,
  },
  'leave-after': {
    help: 'on SIGTERM, how many seconds what it has may take; a second one ends it at once',
    default: 30,
    min: 0,
  },
  launch: { help: 'set by whoever starts it for the cluster', default: undefined, value: 'ID' },
  shared: { help: 'set by the cluster that starts it: the port is its own', default: false },
} as const

/** One more front, on any machine. */
export const front: Command = {
  summary: 'Join a cluster as one more front.',
  usage: '--join URL --token T [options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length > 0) throw new ConfigError(`front: unexpected ${rest.join(' ')}`)
    const token = values.token || process.env.PLIMSOLL_TOKEN
    if (!token) throw new ConfigError('--token: must be given, or PLIMSOLL_TOKEN be set')
    if (!URL.canParse(values.join))
      throw new ConfigError(`--join = ${values.join}: must be a URL such as http://127.0.0.1:8081`)
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
    if (values.shared) endWithParent()
    await runFront(
      {
        id: values.id ?? values.launch ?? `${hostname()}-${process.pid}`,
        join: new URL(values.join),
        token,
        ...(values.launch !== undefined && { launch: values.launch }),
        ...(await servedFrom(values)),
        host: values.host,
        port: values.port,
        ...(values.shared && { share: listenShared }),
        holdMs: values.hold * 1000,
        leaveMs: values['leave-after'] * 1000,
        log: (line) => console.log(line),
      },
      stop.signal,
    )
    // What connects it with the process that started it would keep it.
    if (values.shared) process.disconnect?.()
    return 0
  },
}

async function servedFrom(values: OptionValues<typeof options>) {
  const { config: file, workloads } = values
  if (file === undefined) {
    return { files: workloadFiles(workloads ?? bundledWorkloads), meter: meterFrom(values) }
  }
  if (workloads !== undefined) {
    throw new ConfigError(`--workloads = ${workloads}: a front has workloads or a --config, not both`)
  }
  const { own } = await loadConfig(file)
  if (!own) throw new ConfigError(`--config = ${file}: must have workers or upstreams`)
  return { files: [], own }
}
