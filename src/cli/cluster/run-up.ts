/** `plimsoll up` in the brain's process: starts the cluster, says where it is, and stops it on a signal. */

import { get } from 'node:http'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { OwnCluster } from '../../config/check.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../../live/cluster.ts'
import type { SupervisorLink } from '../../live/supervise/supervisor-link.ts'
import { forgetTokens, tokenFile } from '../../live/tokens.ts'
import { rejectRest } from '../options.ts'
import { writeAddresses } from './addresses-file.ts'
import { readConfigured } from './configuration.ts'
import { firstPath, firstRequest } from './first-request.ts'
import { clusterOptionsFrom } from './from-options.ts'
import { reloadOnChange } from './reload.ts'
import { tellWaiting } from './starting.ts'
import { upOptions } from './up-options.ts'

/** Without a supervisor, this process accepts requests too. Resolves with the exit code. */
export async function runUp(args: string[], supervisor?: SupervisorLink): Promise<number> {
  const began = performance.now()
  const isFirst = supervisor?.memory === undefined
  const say = (line: string) => isFirst && console.log(line)
  const log = (line: string) => console.error(line)
  const { values, rest, config } = await readConfigured(args, upOptions, say)
  rejectRest('up', rest)
  const options = clusterOptionsFrom(values, log, config)
  const asked = { ...options, tokens: supervisor?.tokens ?? options.tokens ?? {} }
  // This process loads modules of workloads.
  forgetTokens()
  const token = asked.tokens.worker === undefined ? tokenFile(resolve(values.data), 'worker') : undefined
  const cluster = await startCluster(supervisor ? supervised(asked, supervisor, values.fronts) : asked)
  const served = { config: config?.own && config.file, workloads: values.workloads, token }
  const removeAddresses = writeAddresses(resolve(values.data), { url: cluster.url, admin: cluster.adminUrl })
  const stopped = Promise.withResolvers<void>()
  let stopping = false
  const stop = () => {
    // Signals may come from the supervisor and from elsewhere.
    if (stopping) return
    stopping = true
    endReload()
    console.log(`\nStopping: running requests have ${values.stopAfter} s.`)
    cluster.stop(values.stopAfter * 1000).then(stopped.resolve, stopped.reject)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    if (supervisor) process.on(signal, stop)
    else process.once(signal, stop)
  }
  const endReload = reloadOnChange({
    cluster,
    watch: values.watch,
    hangUp: supervisor ? undefined : stop,
    log,
  })
  supervisor?.send({ type: 'serving' })
  const endWaiting = tellWaiting(cluster, { hasServer: served.config !== undefined, log })
  try {
    // A stop may come before the first worker is ready.
    const isReady = await Promise.race([cluster.ready.then(() => true), stopped.promise.then(() => false)])
    endWaiting()
    const readyMs = performance.now() - began
    if (isReady && isFirst) say(welcome(cluster, served, readyMs, await suggestion(cluster, config?.own)))
    else if (isReady) log(`brain: ready again after ${(readyMs / 1000).toFixed(1)} s`)
    await stopped.promise
  } catch (error) {
    await cluster.stop(0)
    throw error
  } finally {
    endWaiting()
    endReload()
    removeAddresses()
  }
  return 0
}

/** Fronts find a brain that was started again at the same place. It does not overwrite the event log of the one before. */
function supervised(options: ClusterOptions, supervisor: SupervisorLink, fronts: number): ClusterOptions {
  const all = { ...options, supervisor, fronts: { count: fronts, command: [] } }
  if (!supervisor.memory) return all
  const { brains, adminPort } = supervisor.memory
  const { eventLog } = options
  return {
    ...all,
    adminPort,
    ...(eventLog !== undefined && { eventLog: `${eventLog}.${brains + 1}` }),
  }
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
  join       npx plimsoll worker --join ${joinAt(cluster)}${joinWith(served)}
  stop       Ctrl-C

  Try:  curl '${cluster.url.replace(/127\.0\.0\.1|0\.0\.0\.0|\[::1?\]/, 'localhost')}${path}'
`
}

/** An address that listens on all interfaces is shown by the name of this machine. Workers of this machine need no TLS. */
function joinAt({ joinUrl, adminUrl }: Cluster): string {
  return (
    joinUrl?.replace(/\/\/(0\.0\.0\.0|\[::\]):/, `//${hostname()}:`) ?? adminUrl.replace(/^https:/, 'http:')
  )
}

/** Paths are absolute, so that the line works in any folder. */
function joinWith({ config, workloads, token }: Served): string {
  const file = token === undefined ? '' : ` --token-file ${shellWord(token)}`
  if (config !== undefined) return `${file} --config ${shellWord(resolve(config))}`
  if (workloads === undefined) return file
  return `${file} --workloads ${shellWord(
    workloads
      .split(',')
      .map((path) => resolve(path))
      .join(','),
  )}`
}

/** As a shell reads it again. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

async function suggestion({ url, workloads }: Cluster, own: OwnCluster | undefined): Promise<string> {
  return own ? firstPath(own) : firstRequest((path, signal) => statusOf(`${url}${path}`, signal), workloads)
}

/** The client of other commands takes 14 MB, for as long as the brain lives. */
function statusOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = get(url, { agent: false, signal }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    call.on('error', reject)
  })
}
