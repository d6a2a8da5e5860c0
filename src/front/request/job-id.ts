/** Names for jobs: they sort by time, and never come again. */

import { randomUUID } from 'node:crypto'

/** Nine characters of time, then sixteen of chance: `0mhx3k2p9-…`. */
export function newJobId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${chance()}`
}

/** 64 bits; of these ids the runtime draws many at a time. */
function chance(): string {
  const id = randomUUID()
  return id.slice(0, 8) + id.slice(-8)
}
