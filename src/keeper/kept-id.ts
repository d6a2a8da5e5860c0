/** Ids of kept jobs. Who knows one can read the answer, so nobody can guess it. */

import { randomUUID } from 'node:crypto'

/** Nine characters of time, then 122 random bits: ids sort by time. */
export function newKeptId(now: number): string {
  return `${now.toString(36).padStart(9, '0')}-${randomUUID().replaceAll('-', '')}`
}

const pattern = /^[0-9a-z]{9}-[0-9a-f]{32}$/

export function isKeptId(text: string): boolean {
  return pattern.test(text)
}
