/** Turns reasons into text on demand. */

import type { Reason } from './reason.ts'

export type Words = Readonly<Record<string, (facts: Reason) => string>>

/** A code without words is shown by its `text`, as in reasons of users' policies, or else with its facts. */
export function inWords(words: Words, reason: Reason): string {
  const { code, ...facts } = reason
  const sentence = Object.hasOwn(words, code) ? words[code] : undefined
  if (sentence) return sentence(reason)
  return typeof facts.text === 'string' ? facts.text : `${code} ${JSON.stringify(facts)}`
}
