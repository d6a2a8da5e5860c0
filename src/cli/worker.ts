import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { watchSpotNotice } from '../aws/ec2/spot-notice.ts'
import type { OwnCluster } from '../config/check.ts'
import { commonOptions, limitOptions, meterOptions } from '../config/cluster-options.ts'
import { jobOptions } from '../config/job-options.ts'
import { loadConfig } from '../config/load.ts'
import type { OptionSpecs, OptionValues } from '../config/option.ts'
import { passEnvFrom } from '../config/pass-env.ts'
import { routeLimits, serverSettings } from '../config/server-settings.ts'
import { ConfigError } from '../lib/errors.ts'
import { makePrivateFolder } from '../lib/private-files.ts'
import { keepVersion } from '../live/version.ts'
import { workerNameOf } from '../model/worker.ts'
import { type FrontStarter, LiveTier } from '../systems/tiered/live-tier.ts'
import { JoinAddresses } from '../wire/join-addresses.ts'
import type { WorkerCode } from '../worker/open-pool.ts'
import { runWorker } from '../worker/worker.ts'
import { removeOldCode } from '../workload/kept-code.ts'
import {
  defaultId,
  hostTowards,
  joinFrom,
  joinOptions,
  leaveOptions,
  untilSignal,
} from './cluster/joining.ts'
import { meterExtrasOption, meterFrom } from './cluster/meter.ts'
import { bundledWorkloads, servedOptions, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOptions } from './options.ts'

/** While the brain cannot be reached, a worker that was started manually tries to reconnect for this long. */
const reconnectMs = 60_000
/** So does one on an instance that the cluster launched. It outlives a restart of the cluster, and not its end. */
const instanceReconnectMs = 15 * 60_000

/** Exit code of a worker that the cluster had given up, so that a supervisor such as systemd starts it again. */
const lostCode = 3

const options = {
  ...joinOptions,
  cores: { type: 'integer', help: 'jobs that run at a time', default: 1, min: 1, max: 1024 },
  slots: limitOptions.slots,
  memory: { type: 'integer', help: 'memory for all jobs, in MB', default: 4096, min: 128, value: 'MB' },
  jobMemory: limitOptions.jobMemory,
  jobLimit: jobOptions.jobLimit,
  nice: limitOptions.nice,
  passEnv: jobOptions.passEnv,
  ...servedOptions,
  upstream: {
    type: 'text',
    help: "the configuration's upstream that it stands for; default: the only one",
    value: 'URL',
  },
  ...meterOptions,
  ...meterExtrasOption,
  data: { ...commonOptions.data, help: 'folder for the files of workloads' },
  host: {
    type: 'text',
    help: 'address at which fronts reach it; default: 127.0.0.1, with tls:// the address from which it reaches the cluster',
  },
  ...leaveOptions,
  spotNotices: {
    type: 'flag',
    help: 'on an EC2 spot instance: drain when AWS announces its interruption',
  },
  mustStart: { type: 'flag', help: 'set by the cluster: end if the program does not become healthy' },
} as const satisfies OptionSpecs

type Values = OptionValues<typeof options>

/** One worker, on any machine. */
export const worker: Command = {
  summary: 'Join a cluster as a worker.',
  usage: '--join URL [--token-file FILE] [options]',
  options,
  async run(args) {
    const { values } = readOptions(args, options)
    const { launch } = values
    const joining = joinFrom(values, 'worker')
    if (launch !== undefined && values.tokenFile === '-') endWithParent()
    const isHere = !joining.join.isSecure
    const host = values.host ?? (await hostTowards(joining.join))
    if (values.cores > availableParallelism())
      console.error(`worker: --cores = ${values.cores}, but this machine has ${availableParallelism()}`)
    const signal = untilLeaving(values)
    // A cluster that starts workers has made its folder private.
    if (launch === undefined || !isHere)
      makePrivateFolder(resolve(values.data), (line) => console.error(`worker: ${line}`))
    const code = await codeFrom(values)
    const { server } = code
    const id = values.id ?? (launch === undefined ? defaultId() : workerNameOf(launch))
    const end = await runWorker(
      {
        id,
        ...joining,
        ...(launch !== undefined && { launch }),
        cores: values.cores,
        slots: values.slots,
        memoryMb: values.memory,
        jobMemoryMb: values.jobMemory,
        niceness: values.nice,
        jobLimitMs: values.jobLimit * 1000,
        passEnv: passEnvFrom(values.passEnv),
        ...code,
        meter: server ? 'off' : meterFrom(values),
        dataDir: resolve(values.data),
        host,
        mustStart: values.mustStart,
        // Workers that a cluster started on its machine end with the process that did, and not with the brain.
        reconnectMs: launch === undefined ? reconnectMs : isHere ? Infinity : instanceReconnectMs,
        leaveMs: values.leaveAfter * 1000,
        startRole: (assigned, parts) =>
          new LiveTier(assigned, {
            ...parts,
            front: server
              ? undefined
              : frontFrom(values, host, {
                  join: new JoinAddresses(joining.join.all),
                  token: assigned.frontToken ?? '',
                }),
          }),
        log: (line) => console.log(line),
      },
      signal,
    )
    // A worker that became a front has a channel to the process that started it, which would keep it alive.
    if (process.connected) process.disconnect()
    // The log of the cluster that started it tells the rest, and names it in each line.
    if (end.why !== undefined && (launch === undefined || end.isLost))
      console.error(`${launch === undefined ? `worker ${id}: ` : ''}ended by the cluster: ${end.why}`)
    return end.isLost ? lostCode : 0
  },
}

/** Aborts on the first signal to end, or when AWS announces that it will interrupt the spot instance. */
function untilLeaving({ spotNotices }: Values): AbortSignal {
  const ended = untilSignal()
  if (!spotNotices) return ended
  const noticed = new AbortController()
  const endWatch = watchSpotNotice({
    log: (line) => console.error(`worker: ${line}`),
    onNotice({ action, time }) {
      console.log(`AWS will ${action} this spot instance at ${time}: the worker drains`)
      noticed.abort()
    },
  })
  ended.addEventListener('abort', endWatch)
  return AbortSignal.any([ended, noticed.signal])
}

/** The process that started this one keeps its standard input open until it ends, however it ends. */
function endWithParent(): void {
  const end = () => process.exit(lostCode)
  process.stdin.on('error', end).on('end', end).on('close', end).resume()
  ;(process.stdin as typeof process.stdin & { unref?(): void }).unref?.()
}

/** Makes this worker a front: on the cluster's port if that was handed over, else on a free one. */
function frontFrom(
  values: Values,
  host: string,
  joining: { join: JoinAddresses; token: string },
): FrontStarter {
  return async (id, signal, events) => {
    const [{ runFront }, { sharedPort }] = await Promise.all([
      import('../live/fronts/run-front.ts'),
      import('../live/fronts/front-channel.ts'),
    ])
    const { launch } = values
    await runFront(
      {
        ...{ id, ...joining, host, port: 0, ...events },
        ...(launch !== undefined && { launch }),
        ...(process.send && { share: sharedPort() }),
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

/** What it runs. Its slots and programs start from a copy; for workers that it starts, the cluster has made one. */
async function codeFrom(values: Values): Promise<WorkerCode> {
  const isKept = values.launch !== undefined
  const dataDir = resolve(values.data)
  if (values.config !== undefined) {
    const { config, upstream } = values
    const own = await ownFrom(values, config)
    if (isKept || !own.workers) return { server: serverSettings(own, upstream), limits: routeLimits(own) }
    const version = await keepVersion({ files: [], own, config }, dataDir)
    await removeOldCode(dataDir, [version.id])
    return { server: serverSettings(version.own!, upstream), limits: routeLimits(own) }
  }
  if (values.upstream !== undefined)
    throw new ConfigError(`--upstream = ${values.upstream}: requires --config`)
  const files = workloadFiles(values.workloads ?? bundledWorkloads)
  if (isKept) return { files }
  const version = await keepVersion({ files }, dataDir)
  await removeOldCode(dataDir, [version.id])
  return { files: version.files }
}

async function ownFrom({ workloads }: Values, file: string): Promise<OwnCluster> {
  if (workloads !== undefined)
    throw new ConfigError(`--workloads = ${workloads}: a worker has workloads or a --config, not both`)
  const { own } = await loadConfig(file)
  if (!own) throw new ConfigError(`--config = ${file}: must have workers or upstreams`)
  return own
}
