import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { OwnCluster } from '../config/check.ts'
import { clusterOptions } from '../config/cluster-options.ts'
import type { OptionSpecs } from '../config/option.ts'
import type { Cluster } from '../live/cluster.ts'
import { tokenFile, tokenVariables } from '../live/tokens.ts'
import { configOption, readConfigured } from './cluster/configuration.ts'
import { firstPath, firstRequest } from './cluster/first-request.ts'
import { clusterFrom } from './cluster/from-options.ts'
import { reloadOnChange } from './cluster/reload.ts'
import { tellWaiting } from './cluster/starting.ts'
import { type Command, rejectRest } from './options.ts'
import { client } from './terminal/client.ts'

const { port, ...others } = clusterOptions
const watchOption = {
  watch: {
    topic: 'Common',
    type: 'flag',
    help: 'for development: restart with the new code when a file of a workload or of the server changes',
  },
} as const satisfies OptionSpecs
const options = { port, ...configOption, ...watchOption, ...others } as const satisfies OptionSpecs

/** A cluster on this machine. */
export const up: Command = {
  summary: 'Start a cluster on this machine: front, brain and workers.',
  usage: '[options]',
  options,
  async run(args) {
    const began = performance.now()
    const { values, rest, config } = await readConfigured(args, options, (line) => console.log(line))
    rejectRest('up', rest)
    const token = tokenVariables.worker in process.env ? undefined : tokenFile(resolve(values.data), 'worker')
    const cluster = await clusterFrom(values, (line) => console.error(line), config)
    const served = { config: config?.own && config.file, workloads: values.workloads, token }
    const stopped = Promise.withResolvers<void>()
    const stop = () => {
      endReload()
      console.log(`\nStopping: running requests have ${values.stopAfter} s.`)
      cluster.stop(values.stopAfter * 1000).then(stopped.resolve, stopped.reject)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
    const endReload = reloadOnChange({
      ...{ cluster, watch: values.watch, hangUp: stop },
      log: (line) => console.error(line),
    })
    const endWaiting = tellWaiting(cluster, {
      ...{ hasServer: served.config !== undefined, log: (line) => console.error(line) },
    })
    // A stop may come before the first worker is ready.
    const isReady = await Promise.race([cluster.ready.then(() => true), stopped.promise.then(() => false)])
    endWaiting()
    const readyMs = performance.now() - began
    if (isReady) console.log(welcome(cluster, served, readyMs, await suggestion(cluster, config?.own)))
    await stopped.promise
    return 0
  },
}

/** What workers elsewhere must be given to join and to serve the same. */
interface Served {
  /** The configuration of an existing server. */
  config: string | undefined
  workloads: string | undefined
  /** The file of their token. Undefined: it came from the environment. */
  token: string | undefined
}

function welcome(cluster: Cluster, served: Served, afterMs: number, path: string): string {
  return `
  Plimsoll is ready after ${(afterMs / 1000).toFixed(1)} s.

  requests   ${cluster.url}
  admin      ${cluster.adminUrl}/api/state
  join       plimsoll worker --join ${joinAt(cluster)}${joinWith(served)}
  stop       Ctrl-C

  Try:  curl '${cluster.url.replace('127.0.0.1', 'localhost')}${path}'
`
}

/** An address that listens on all interfaces is shown by the name of this machine. */
function joinAt({ joinUrl, adminUrl }: Cluster): string {
  return joinUrl?.replace(/\/\/(0\.0\.0\.0|\[::\]):/, `//${hostname()}:`) ?? adminUrl
}

function joinWith({ config, workloads, token }: Served): string {
  const file = token === undefined ? '' : ` --token-file ${token}`
  if (config !== undefined) return `${file} --config ${config}`
  return workloads === undefined ? file : `${file} --workloads ${workloads}`
}

async function suggestion({ url, workloads }: Cluster, own: OwnCluster | undefined): Promise<string> {
  if (own) return firstPath(own)
  const connection = client(new URL(url))
  try {
    return await firstRequest(connection, workloads)
  } finally {
    await connection.close()
  }
}
