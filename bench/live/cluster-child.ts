/** A cluster in a process of its own: tells its parent where it is, and ends with it. Its argument: a `ClusterSetup`. */

import { clusterFrom } from '../../src/cli/cluster/from-options.ts'
import { clusterOptions } from '../../src/config/cluster-options.ts'
import { defaultsOf, type OptionValues } from '../../src/config/option.ts'
import { workerCount } from './setting.ts'

export interface ClusterSetup {
  /** In place of the defaults of `plimsoll up`. */
  options: Partial<OptionValues<typeof clusterOptions>>
}

export interface ClusterReady {
  url: string
  workerPids: number[]
}

const { options } = JSON.parse(process.argv[2]!) as ClusterSetup
const defaults = defaultsOf(clusterOptions)
const fleet = { port: 0, adminPort: 0, min: workerCount, max: workerCount }
const cluster = await clusterFrom({ ...defaults, ...fleet, ...options }, (line) => console.error(line))
const end = () =>
  cluster.stop(0).then(
    () => process.exit(),
    () => process.exit(1),
  )
process.once('disconnect', end)
if (!process.connected) await end()
// The whole fleet, so that its start is no part of what is measured.
const timer = setInterval(() => {
  const { ready, workers } = cluster.state()
  if (ready < workerCount) return
  clearInterval(timer)
  process.send!({
    url: cluster.url,
    workerPids: workers.flatMap(({ pid }) => pid ?? []),
  } satisfies ClusterReady)
}, 50)
