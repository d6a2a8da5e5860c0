/** What both databases check of a query, and the cursors of their pages. */
import { StoreError } from '../lib/errors.ts'
import type { JobQuery, Retention } from './store.ts'

export const maxPageLimit = 10_000

/** A cursor names the last job of its page by the order of acceptance, so new jobs do not move the pages after it. */
export function cursorAfter(seq: number): string {
  return Buffer.from(`jobs:${seq}`).toString('base64url')
}

/** The row after which the page begins; undefined: the first page. */
export function seqOfCursor(store: string, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : ''
  const seq = /^jobs:(\d{1,16})$/.exec(text)?.[1]
  if (seq === undefined || cursorAfter(Number(seq)) !== cursor) {
    const shown = JSON.stringify(cursor)?.slice(0, 80)
    throw new StoreError(
      `${store}: cursor ${shown} is invalid: it must be the cursor of the page before`,
      'STORE_QUERY',
    )
  }
  return Number(seq)
}

export function checkPageLimit(store: string, limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxPageLimit) return
  throw new StoreError(
    `${store}: limit = ${limit}: must be a whole number from 1 to ${maxPageLimit}`,
    'STORE_QUERY',
  )
}

/** A place in the order in which jobs ended. `seq` orders jobs with the same time. */
export interface Position {
  endedAt: number
  seq: number
}

/** What a sweep removes: everything up to these positions. Jobs go with their results. */
export interface Removal {
  results: Position
  jobs: Position
}

/** Before all jobs. */
export const noPosition: Position = { endedAt: -Infinity, seq: 0 }

export function laterOf(a: Position, b: Position): Position {
  return a.endedAt > b.endedAt || (a.endedAt === b.endedAt && a.seq > b.seq) ? a : b
}

/** How many of the jobs that have ended, and how much space of their rows, are above the limits. Undefined: none. */
export function excessOf(
  ended: { jobs: number; bytes: number },
  { rememberJobs, rememberBytes }: Retention,
): { jobs: number; bytes: number } | undefined {
  const excess = { jobs: ended.jobs - rememberJobs, bytes: ended.bytes - rememberBytes }
  return excess.jobs > 0 || excess.bytes > 0 ? excess : undefined
}

/** The position up to which the oldest jobs make up the excess. */
export function endOfExcess(
  oldestFirst: Iterable<Position & { bytes: number }>,
  excess: { jobs: number; bytes: number },
): Position {
  let [jobs, bytes] = [0, 0]
  for (const { endedAt, seq, bytes: more } of oldestFirst) {
    jobs++
    bytes += more
    if (jobs >= excess.jobs && bytes >= excess.bytes) return { endedAt, seq }
  }
  return noPosition
}

export interface Filter {
  text: string
  values: (string | number)[]
}

/** The condition of a page. `placeholder` writes the n-th parameter as the database wants it. */
export function filterOf(
  { state, workload, client }: JobQuery,
  before: number | undefined,
  placeholder: (n: number) => string,
): Filter {
  const given: [column: string, value: string | number | undefined][] = [
    ['state =', state],
    ['workload =', workload],
    ['client =', client],
    ['seq <', before],
  ]
  const used = given.filter((each): each is [string, string | number] => each[1] !== undefined)
  const conditions = used.map(([column], index) => `${column} ${placeholder(index + 1)}`)
  return { text: ['true', ...conditions].join(' AND '), values: used.map(([, value]) => value) }
}
