/** Headers of a plain answer as the client receives them: the same that the general path sends. */

import { answerHeaders } from '../transports/proxy-headers.ts'

/** Names that are passed on unchanged. Programs use few: each is checked once. */
const passed = new Set<string>()
const mostPassed = 1_000
const dropped = /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|plimsoll-.*)$/i

/** `raw`: of an answer that `AnswerReader` has read, so `connection` names no other header. `account`: about the job. */
export function plainAnswerHeaders(raw: string[], account: Record<string, string>): string[] {
  const headers: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (!passed.has(name)) {
      if (dropped.test(name)) {
        // The general rule decides about our own names.
        if (/^plimsoll-/i.test(name)) return answerHeaders(raw, account)
        continue
      }
      if (passed.size < mostPassed) passed.add(name)
    }
    headers.push(name, raw[i + 1]!)
  }
  for (const name in account) headers.push(name, account[name]!)
  return headers
}
