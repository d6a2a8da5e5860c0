/** Ids of jobs: unique, and sorted by time. */

import { randomUUID } from 'node:crypto'

/** Nine characters of time, then sixteen random ones: `0mhx3k2p9-…`. */
export function newJobId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomPart()}`
}

/** 64 bits. Node generates UUIDs in batches, which is faster than `randomBytes`. */
function randomPart(): string {
  const id = randomUUID()
  return id.slice(0, 8) + id.slice(-8)
}
