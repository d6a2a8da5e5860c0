/** A cluster in a child process, which sends its address to its parent and ends with it. Its argument is a `ClusterSetup`. */

import { clusterFrom } from '../../src/cli/cluster/from-options.ts'
import { clusterOptions } from '../../src/config/cluster-options.ts'
import { defaultsOf, type OptionValues } from '../../src/config/option.ts'
import { workerCount } from './setting.ts'

export interface ClusterSetup {
  /** Override the defaults of `plimsoll up`. */
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
// Wait for the whole fleet, so that its start is not measured.
const timer = setInterval(() => {
  const { ready, workers } = cluster.state()
  if (ready < workerCount) return
  clearInterval(timer)
  process.send!({
    url: cluster.url,
    workerPids: workers.flatMap(({ pid }) => pid ?? []),
  } satisfies ClusterReady)
}, 50)
