/** Ids of jobs: unique, and sorted by time. */

import { randomUUID } from 'node:crypto'

/** Nine characters of time, then sixteen random ones: `0mhx3k2p9-…`. */
export function newJobId(): string {
  return `${timePart(Date.now())}-${randomPart()}`
}

let [lastMs, lastPart] = [0, '']

/** Many ids are made in the same millisecond. */
function timePart(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms
    lastPart = ms.toString(36).padStart(9, '0')
  }
  return lastPart
}

const directId = /^[0-9a-z]{9}-[0-9a-f]{16}-d$/

/** The id of a job that a front answers without the brain, which therefore does not know it. */
export function newDirectJobId(): string {
  return `${newJobId()}-d`
}

/** True: a front answered the job without the brain. */
export function isDirectJobId(id: string): boolean {
  return directId.test(id)
}

/** 64 bits. Node generates UUIDs in batches, which is faster than `randomBytes`. */
function randomPart(): string {
  const id = randomUUID()
  return id.slice(0, 8) + id.slice(-8)
}
