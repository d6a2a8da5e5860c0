/** Parts of sentences that the words for reasons share. */

import { count, span } from '../lib/quantities.ts'
import type { Reason } from '../model/reason.ts'

export type Fact = Reason[string] | undefined

/** A step of the fleet: from how many workers to how many, and when the one that goes is expected to be empty. */
export function changing({ have, to, drainMs }: Reason): string {
  const empty =
    drainMs === undefined
      ? ''
      : Number(drainMs) === 0
        ? '; it is empty'
        : `; it is empty in about ${span(drainMs)}`
  return `: ${have} → ${count(to, 'worker')}${empty}`
}

/** A whole number, rounded up, with commas between the thousands. */
export function grouped(value: Fact): string {
  return Math.ceil(Number(value)).toLocaleString('en-US')
}

/** The subject of a sentence. */
export function openWorkers({ openWorkers: open }: Reason): string {
  return open === 1 ? 'the only open worker' : `the ${open} open workers`
}

/** The verb after a number of things. */
export function are(given: Fact): string {
  return given === 1 ? 'is' : 'are'
}

/** 1 request, 3 requests. */
export function requests(given: Fact): string {
  return given === 1 ? '1 request' : `${given} requests`
}

/** Three significant digits. */
export function short(value: Fact): string {
  return typeof value === 'number' ? Number(value.toPrecision(3)).toLocaleString('en-US') : `${value}`
}
