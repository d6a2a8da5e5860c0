import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { commonOptions, limitOptions, meterOptions } from '../config/cluster-options.ts'
import { loadConfig } from '../config/load.ts'
import type { OptionSpecs, OptionValues } from '../config/option.ts'
import { type ServerSettings, serverSettings } from '../config/server-settings.ts'
import { ConfigError } from '../lib/errors.ts'
import { workerNameOf } from '../model/worker.ts'
import { type FrontStarter, LiveTier } from '../systems/tiered/live-tier.ts'
import { runWorker } from '../worker/worker.ts'
import { defaultId, joinFrom, joinOptions, leaveOptions, untilSignal } from './cluster/joining.ts'
import { meterExtrasOption, meterFrom } from './cluster/meter.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOptions } from './options.ts'

/** While the brain cannot be reached, a worker that it did not start tries to reconnect for this long. */
const reconnectMs = 60_000

const options = {
  ...joinOptions,
  cores: { type: 'integer', help: 'jobs that run at a time', default: 1, min: 1, max: 1024 },
  slots: limitOptions.slots,
  memory: { type: 'integer', help: 'memory for all jobs, in MB', default: 4096, min: 128, value: 'MB' },
  jobMemory: limitOptions.jobMemory,
  nice: limitOptions.nice,
  ...servedOptions,
  upstream: {
    type: 'text',
    help: "the configuration's upstream that it stands for; default: the only one",
    value: 'URL',
  },
  ...meterOptions,
  ...meterExtrasOption,
  data: { ...commonOptions.data, help: 'folder for the files of workloads' },
  host: { type: 'text', help: 'address at which fronts reach it', default: '127.0.0.1' },
  ...leaveOptions,
  mustStart: { type: 'flag', help: 'set by the cluster: end if the program does not become healthy' },
} as const satisfies OptionSpecs

type Values = OptionValues<typeof options>

/** One worker, on any machine. */
export const worker: Command = {
  summary: 'Join a cluster as a worker.',
  usage: '--join URL --token TOKEN [options]',
  options,
  async run(args) {
    const { values } = readOptions(args, options)
    const { launch } = values
    const joining = joinFrom(values)
    if (values.cores > availableParallelism())
      console.error(`worker: --cores = ${values.cores}, but this machine has ${availableParallelism()}`)
    const signal = untilSignal()
    const server = await serverFrom(values)
    await runWorker(
      {
        id: values.id ?? (launch === undefined ? defaultId() : workerNameOf(launch)),
        ...joining,
        ...(launch !== undefined && { launch }),
        cores: values.cores,
        slots: values.slots,
        memoryMb: values.memory,
        jobMemoryMb: values.jobMemory,
        niceness: values.nice,
        ...(server ? { server } : { files: workloadFiles(values.workloads ?? bundledWorkloads) }),
        meter: server ? 'off' : meterFrom(values),
        dataDir: resolve(values.data),
        host: values.host,
        mustStart: values.mustStart,
        // Workers that the brain started end with it.
        reconnectMs: launch === undefined ? reconnectMs : 0,
        leaveMs: values.leaveAfter * 1000,
        startRole: (assigned, parts) =>
          new LiveTier(assigned, { ...parts, front: server ? undefined : frontFrom(values, joining) }),
        log: (line) => console.log(line),
      },
      signal,
    )
    // A worker that became a front has a channel to the process that started it, which would keep it alive.
    if (process.connected) process.disconnect()
    return 0
  },
}

/** Makes this worker a front: on the cluster's port if that was handed over, else on a free one. */
function frontFrom(values: Values, joining: { join: URL; token: string }): FrontStarter {
  return async (id, signal, events) => {
    const [{ runFront }, { listenShared }] = await Promise.all([
      import('../live/fronts/run-front.ts'),
      import('../live/fronts/shared-port.ts'),
    ])
    const { launch, host } = values
    await runFront(
      {
        ...{ id, ...joining, host, port: 0, ...events },
        ...(launch !== undefined && { launch }),
        ...(process.send && { share: listenShared }),
        files: workloadFiles(values.workloads ?? bundledWorkloads),
        meter: meterFrom(values),
        holdMs: reconnectMs,
        leaveMs: values.leaveAfter * 1000,
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
}: Values): Promise<ServerSettings | undefined> {
  if (file === undefined) {
    if (upstream === undefined) return undefined
    throw new ConfigError(`--upstream = ${upstream}: requires --config`)
  }
  if (workloads !== undefined)
    throw new ConfigError(`--workloads = ${workloads}: a worker has workloads or a --config, not both`)
  const { own } = await loadConfig(file)
  if (!own) throw new ConfigError(`--config = ${file}: must have workers or upstreams`)
  return serverSettings(own, upstream)
}
