/** Turns reasons into text on demand. */

import type { Reason } from './reason.ts'

export type Words = Readonly<Record<string, (facts: Reason) => string>>

/** A code without text is shown with its facts. */
export function inWords(words: Words, reason: Reason): string {
  const { code, ...facts } = reason
  const sentence = Object.hasOwn(words, code) ? words[code] : undefined
  return sentence ? sentence(reason) : `${code} ${JSON.stringify(facts)}`
}
