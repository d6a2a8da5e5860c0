/** A cached answer on its way to the coordinator's cache and back: the body unchanged, all else in one header. */

import type { Account, WholeAnswer } from './whole-answer.ts'

/** On the admin port, before the key. */
export const cachePath = '/api/cache/'
export const keptHeader = 'plimsoll-kept'

/** A cached answer without its body. Clocks differ, so it has ages and durations, not times. */
export interface KeptHead {
  status: number
  fields: WholeAnswer['fields']
  account: Account
  ageMs: number
  /** Lifetime: in a `PUT` from the start of the answer's age, in a `GET` from now. Undefined: unlimited. */
  goodMs?: number
}

/** Node limits all headers of a message to 16 KB. */
const longestHead = 12 * 1024

/** Undefined: too long; the answer is not cached. */
export function writeKeptHead({ goodMs = Infinity, ...head }: KeptHead): string | undefined {
  const text = JSON.stringify({ ...head, ...(goodMs < Infinity && { goodMs }) })
  const ascii = text.replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return ascii.length > longestHead ? undefined : ascii
}

/** Undefined: malformed. */
export function readKeptHead(text: unknown): KeptHead | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const head = JSON.parse(text) as KeptHead
    const { status, fields, account, ageMs, goodMs = 0 } = head
    const isRight = status === 200 && isText(fields) && isText(account) && isTime(ageMs) && isTime(goodMs)
    return isRight ? head : undefined
  } catch {
    return undefined
  }
}

function isTime(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0
}

function isText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string')
}
