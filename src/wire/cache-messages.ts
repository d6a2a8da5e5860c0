/** How a kept answer crosses to the coordinator's cache and back: its body as it is, all else in one header. */

import type { Account, WholeAnswer } from './whole-answer.ts'

/** On the admin port; a key follows. */
export const cachePath = '/api/cache/'
export const keptHeader = 'plimsoll-kept'

/** All of a kept answer but its body. Ages and times from now on, since clocks differ. */
export interface KeptHead {
  status: number
  fields: WholeAnswer['fields']
  account: Account
  ageMs: number
  /** From the beginning of the answer's age, or from now on. Undefined: for ever. */
  goodMs?: number
}

/** HTTP allows 16 KB for all headers of a message. */
const longestHead = 12 * 1024

/** Undefined: it is too long to be sent, and the answer is not passed on. */
export function writeKeptHead({ goodMs = Infinity, ...head }: KeptHead): string | undefined {
  const text = JSON.stringify({ ...head, ...(goodMs < Infinity && { goodMs }) })
  const ascii = text.replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return ascii.length > longestHead ? undefined : ascii
}

/** Undefined: it is none. */
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
  return typeof value === 'number' && value >= 0
}

function isText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string')
}
