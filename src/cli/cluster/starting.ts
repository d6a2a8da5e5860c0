/** What `up` says while no worker can run jobs yet. */

import type { Cluster } from '../../live/cluster.ts'
import type { ClusterState } from '../../live/cluster-options.ts'
import { workerNameOf } from '../../model/worker.ts'

/** A start that takes no longer than this needs no explanation. */
const silentMs = 3000
const lookMs = 500

type Seen = Pick<ClusterState, 'booting' | 'workers' | 'launchTroubles'>

/** Says what is being waited for, and says it again when that changes. Returns a function that ends it. */
export function tellWaiting(
  cluster: Pick<Cluster, 'state'>,
  { hasServer, log }: { hasServer: boolean; log(line: string): void },
): () => void {
  let last = ''
  let every: NodeJS.Timeout | undefined
  const look = () => {
    const text = waitingText(cluster.state(), hasServer)
    if (text !== last) log(text)
    last = text
  }
  const first = setTimeout(() => {
    look()
    every = setInterval(look, lookMs)
  }, silentMs)
  return () => {
    clearTimeout(first)
    clearInterval(every)
  }
}

/** `hasServer`: workers start programs of an existing server. */
export function waitingText({ booting, workers, launchTroubles }: Seen, hasServer = false): string {
  const trouble = launchTroubles.at(-1)
  const failed = trouble === undefined ? '' : ` The last failed launch: ${trouble}.`
  const unwell = workers.find(({ problem }) => problem !== undefined)
  if (unwell) return `Not ready: worker ${unwell.id} has joined, but ${unwell.problem}.`
  if (booting.length > 0) {
    const names = booting.map(workerNameOf).join(', ')
    const [who, has] = booting.length === 1 ? ['worker', 'has'] : ['workers', 'have']
    return `Waiting for ${who} ${names}, which ${has} been launched and ${has} not joined yet${hasServer ? ': no program of the server is healthy' : ''}.${failed}`
  }
  return `Waiting for a worker: none has joined, and none is being launched now.${failed}`
}
