import { availableParallelism, hostname } from 'node:os'
import { resolve } from 'node:path'
import { loadConfig } from '../config/load.ts'
import { type ServerSettings, serverSettings } from '../config/server-settings.ts'
import { ConfigError } from '../lib/errors.ts'
import { type FrontStarter, LiveTier } from '../systems/tiered/live-tier.ts'
import { runWorker } from '../worker/worker.ts'
import { meterExtrasOption, meterFrom, meterOptions } from './meter.ts'
import { type Command, type OptionValues, readOptions } from './options.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './workload-files.ts'

const options = {
  join: { help: "the cluster's admin address, for example http://127.0.0.1:8081", default: '', value: 'URL' },
  token: { help: 'the secret to join with; or set PLIMSOLL_TOKEN', default: '', value: 'T' },
  id: { help: 'its name; default: host and process', default: undefined },
  cores: { help: 'jobs that run at a time', default: 1, min: 1, max: 1024, whole: true },
  slots: {
    help: 'most jobs that it holds, running and paused',
    default: 17,
    min: 1,
    max: 10_000,
    whole: true,
  },
  memory: { help: 'memory for all its jobs, in MB', default: 4096, min: 128, whole: true },
  'job-memory': { help: 'bound for one job, in MB', default: 512, min: 96, whole: true },
  ...servedOptions,
  upstream: {
    help: "which of the configuration's upstreams it stands for; default: the only one",
    default: undefined,
    value: 'URL',
  },
  ...meterOptions,
  ...meterExtrasOption,
  data: { help: 'folder for what workloads keep', default: '.plimsoll', value: 'DIR' },
  host: { help: 'address that fronts reach it at', default: '127.0.0.1' },
  'leave-after': {
    help: 'on SIGTERM, how many seconds what it has may take; a second one ends it at once',
    default: 30,
    min: 0,
  },
  launch: { help: 'set by the fleet that starts it', default: undefined, value: 'ID' },
} as const

/** One worker, on any machine. */
export const worker: Command = {
  summary: 'Join a cluster as a worker.',
  usage: '--join URL --token T [options]',
  options,
  async run(args) {
    const { values } = readOptions(args, options)
    const token = values.token || process.env.PLIMSOLL_TOKEN
    if (!token) throw new ConfigError('--token: must be given, or PLIMSOLL_TOKEN be set')
    if (!URL.canParse(values.join))
      throw new ConfigError(`--join = ${values.join}: must be a URL such as http://127.0.0.1:8081`)
    if (values.cores > availableParallelism())
      console.error(`worker: ${values.cores} cores asked for, ${availableParallelism()} there`)
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
    const launched = values.launch !== undefined
    const server = await serverFrom(values)
    await runWorker(
      {
        id: values.id ?? (launched ? `w${values.launch.split('-').at(-1)}` : `${hostname()}-${process.pid}`),
        join: new URL(values.join),
        token,
        ...(launched && { launch: values.launch }),
        cores: values.cores,
        slots: values.slots,
        memoryMb: values.memory,
        jobMemoryMb: values['job-memory'],
        ...(server ? { server } : { files: workloadFiles(values.workloads ?? bundledWorkloads) }),
        meter: server ? 'off' : meterFrom(values),
        dataDir: resolve(values.data),
        host: values.host,
        // Local workers end with the brain; others wait for it to come back.
        reconnectMs: launched ? 0 : 60_000,
        leaveMs: values['leave-after'] * 1000,
        startRole: (assigned, parts) =>
          new LiveTier(assigned, { ...parts, front: server ? undefined : frontFrom(values, token) }),
        log: (line) => console.log(line),
      },
      stop.signal,
    )
    // Of a cluster whose nodes may be fronts: what connects it with the process that started it would keep it.
    if (process.connected) process.disconnect()
    return 0
  },
}

/** A node that is told to be a front: on the cluster's own port if that is handed over, else on any that is free. */
function frontFrom(values: OptionValues<typeof options>, token: string): FrontStarter {
  return async (id, signal, events) => {
    const [{ runFront }, { listenShared }] = await Promise.all([
      import('../live/fronts/run-front.ts'),
      import('../live/fronts/shared-port.ts'),
    ])
    const { launch, host } = values
    await runFront(
      {
        ...{ id, join: new URL(values.join), token, host, port: 0, ...events },
        ...(launch !== undefined && { launch }),
        ...(process.send && { share: listenShared }),
        files: workloadFiles(values.workloads ?? bundledWorkloads),
        meter: meterFrom(values),
        holdMs: 60_000,
        leaveMs: values['leave-after'] * 1000,
        log: (line) => console.log(line),
      },
      signal,
    )
  }
}

/** Undefined: it runs workloads. */
async function serverFrom({
  config: file,
  upstream,
  workloads,
}: OptionValues<typeof options>): Promise<ServerSettings | undefined> {
  if (file === undefined) {
    if (upstream === undefined) return undefined
    throw new ConfigError(`--upstream = ${upstream}: there must be a --config too`)
  }
  if (workloads !== undefined) {
    throw new ConfigError(`--workloads = ${workloads}: a worker has workloads or a --config, not both`)
  }
  const { own } = await loadConfig(file)
  if (!own) throw new ConfigError(`--config = ${file}: must have workers or upstreams`)
  return serverSettings(own, upstream)
}
