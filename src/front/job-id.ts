/** Names for jobs: they sort by time, and never come again. */

import { randomBytes } from 'node:crypto'

/** Nine characters of time, then eleven of chance: `0mhx3k2p9-…`. */
export function newJobId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(8).toString('hex')}`
}
