/** Where jobs are now, as the brain tells at its admin port. */

import { request as call } from 'node:http'
import { request as secureCall } from 'node:https'
import type { JobView } from '../model/view.ts'
import { bearer } from '../wire/token.ts'

export interface Place {
  state: 'queued' | 'running' | 'paused'
  /** A worker or a function. */
  worker?: string
  /** Number of attempts in this cluster, the present one included. */
  attempts?: number
  /** Work done, and work that it is still expected to need. */
  done?: number
  remaining?: number
  /** Of the whole, when the job arrived. */
  predicted?: number
  /** Time in which it was not paused. */
  ranMs?: number
}

export interface ClusterView {
  /** Undefined: the brain does not know the job, or cannot be asked. */
  place(job: string): Promise<Place | undefined>
  /** The last reasons of its story in words, the newest last. Undefined: none are known. */
  why(job: string): Promise<string[] | undefined>
  /** Of all workers, as last read. */
  cores(): number | undefined
}

/** What is read of `/api/state`. */
interface State {
  waiting: readonly string[]
  workers: readonly {
    id: string
    cores: number
    jobs: readonly JobView[]
  }[]
  /** Jobs that run in functions. */
  away: readonly { job: string; attempt: number; function: string }[]
}

/** What is read of the story of a job. */
interface JobStory {
  story: readonly { text: string }[]
}

/** The state of a cluster is large: it is read at most this often. */
const freshMs = 500
/** Stories that are read at a time; further questions get no reasons. */
const mostStories = 16
/** Reasons that a client is told, and the length of each. */
const [mostReasons, longestReason] = [3, 300]
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
  let stories = 0
  const refresh = () => {
    if (now() - readAt <= freshMs) return
    const address = admin()
    readAt = now()
    places = address && read<State>(address, '/api/state').then(placesOf, () => new Map())
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
    async why(job) {
      const address = admin()
      if (!address || stories >= mostStories) return undefined
      stories++
      try {
        const { story } = await read<JobStory>(address, `/api/jobs/${encodeURIComponent(job)}/why`)
        return story.slice(-mostReasons).map(({ text }) => text.slice(0, longestReason))
      } catch {
        return undefined
      } finally {
        stories--
      }
    },
    cores() {
      refresh()
      return cores
    },
  }
}

function placesIn({ waiting, workers, away }: State): Map<string, Place> {
  const found = new Map<string, Place>(waiting.map((job) => [job, { state: 'queued' }]))
  for (const { id: worker, jobs } of workers)
    for (const { job, attempt: attempts, running, ...progress } of jobs)
      found.set(job, { state: running ? 'running' : 'paused', worker, attempts, ...progress })
  for (const { job, attempt: attempts, function: worker } of away)
    found.set(job, { state: 'running', worker, attempts })
  return found
}

/** Rejects if the answer is not that of the brain. */
function read<T>({ url, token }: AdminAddress, path: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:')
    const asking = (isSecure ? secureCall : call)(new URL(path, url), {
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
          if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
          resolve(JSON.parse(Buffer.concat(parts).toString()) as T)
        } catch (error) {
          reject(error as Error)
        }
      })
    })
    asking.end()
  })
}
