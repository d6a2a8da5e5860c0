/** Pages of jobs, as a query asks for them. */

import type { JobState, JobStore, StoredJob } from '../store/store.ts'
import type { Caller } from './callers.ts'
import type { JobDocument } from './documents.ts'
import { KeeperProblem } from './responses.ts'

export interface JobList {
  jobs: JobDocument[]
  /** Undefined: this was the last page. */
  cursor?: string
}

const storedStates: readonly JobState[] = ['open', 'answered', 'cancelled']
/** States of open jobs, which are not in the store. */
const openStates: readonly JobDocument['state'][] = ['accepted', 'queued', 'running', 'paused']
const states: readonly string[] = [...storedStates, ...openStates]
const [usualPage, longestPage] = [50, 1_000]
/** With a state of open jobs, a page ends after this many reads of the store; it may be short then. */
const mostReads = 20

export async function listJobs(
  store: Pick<JobStore, 'list'>,
  caller: Caller,
  query: URLSearchParams,
  describe: (job: StoredJob) => Promise<JobDocument>,
): Promise<JobList> {
  const { limit, state, cursor: first, ...rest } = readQuery(caller, query)
  const isOpenState = state !== undefined && !storedStates.includes(state as JobState)
  const stored = isOpenState ? 'open' : (state as JobState | undefined)
  const jobs: JobDocument[] = []
  let cursor = first
  for (let reads = 0; reads < mostReads; reads++) {
    const page = await store.list({
      ...{ ...rest, limit: limit - jobs.length },
      ...(stored !== undefined && { state: stored }),
      ...(cursor !== undefined && { cursor }),
    })
    const described = await Promise.all(page.jobs.map(describe))
    jobs.push(...(isOpenState ? described.filter((each) => each.state === state) : described))
    cursor = page.cursor
    if (cursor === undefined || jobs.length === limit) break
  }
  return { jobs, ...(cursor !== undefined && { cursor }) }
}

function readQuery(caller: Caller, query: URLSearchParams) {
  const isOperator = caller.client === undefined
  const known = ['state', 'workload', 'cursor', 'limit', ...(isOperator ? ['client'] : [])]
  for (const name of query.keys())
    if (!known.includes(name))
      throw badQuery(`unknown parameter ${name.slice(0, 100)}: must be one of ${known.join(', ')}.`)
  const state = query.get('state') ?? undefined
  if (state !== undefined && !states.includes(state))
    throw badQuery(`state = ${state.slice(0, 100)}: must be one of ${states.join(', ')}.`)
  const limit = Number(query.get('limit') ?? usualPage)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= longestPage))
    throw badQuery(`limit: must be a whole number from 1 to ${longestPage}.`)
  const [workload, cursor] = [query.get('workload'), query.get('cursor')]
  const client = caller.client ?? query.get('client')
  return {
    ...{ limit, state },
    ...(client !== null && { client }),
    ...(workload !== null && { workload }),
    ...(cursor !== null && { cursor }),
  }
}

function badQuery(message: string): KeeperProblem {
  return new KeeperProblem(400, 'bad-request', message)
}
