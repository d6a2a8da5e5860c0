/** Where jobs are now, as the brain tells at its admin port. */

import { request as call } from 'node:http'
import { request as secureCall } from 'node:https'
import { bearer } from '../wire/token.ts'

export interface Place {
  state: 'queued' | 'running' | 'paused'
  worker?: string
  /** Work done, and work that it is still expected to need. */
  done?: number
  remaining?: number
}

export interface ClusterView {
  /** Undefined: the brain does not know the job, or cannot be asked. */
  place(job: string): Promise<Place | undefined>
  /** Of all workers, as last read. */
  cores(): number | undefined
}

/** What is read of `/api/state`. */
interface State {
  waiting: readonly string[]
  workers: readonly {
    id: string
    cores: number
    jobs: readonly { job: string; running: boolean; done: number; remaining: number }[]
  }[]
}

/** The state of a cluster is large: it is read at most this often. */
const freshMs = 500
const limitMs = 3_000

export interface AdminAddress {
  url: string
  token: string
}

/** `admin`: undefined while no brain runs. */
export function clusterView(
  admin: () => AdminAddress | undefined,
  now = () => performance.now(),
): ClusterView {
  let readAt = -Infinity
  let places: Promise<ReadonlyMap<string, Place>> | undefined
  let cores: number | undefined
  const refresh = () => {
    if (now() - readAt <= freshMs) return
    const address = admin()
    readAt = now()
    places = address && readState(address).then(placesOf, () => new Map())
  }
  const placesOf = (state: State) => {
    cores = state.workers.reduce((sum, worker) => sum + worker.cores, 0)
    return placesIn(state)
  }
  return {
    async place(job) {
      refresh()
      return (await places)?.get(job)
    },
    cores() {
      refresh()
      return cores
    },
  }
}

function placesIn({ waiting, workers }: State): Map<string, Place> {
  const found = new Map<string, Place>(waiting.map((job) => [job, { state: 'queued' }]))
  for (const { id: worker, jobs } of workers)
    for (const { job, running, done, remaining } of jobs)
      found.set(job, { state: running ? 'running' : 'paused', worker, done, remaining })
  return found
}

function readState({ url, token }: AdminAddress): Promise<State> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:')
    const asking = (isSecure ? secureCall : call)(new URL('/api/state', url), {
      // It is the port that the brain opened on this machine; its certificate has the name by which others know it.
      ...(isSecure && { rejectUnauthorized: false }),
      headers: { authorization: bearer(token) },
      agent: false,
      timeout: limitMs,
    })
    asking.on('timeout', () => asking.destroy(new Error('the brain does not answer')))
    asking.on('error', reject)
    asking.once('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(parts).toString()) as State)
        } catch (error) {
          reject(error as Error)
        }
      })
    })
    asking.end()
  })
}
