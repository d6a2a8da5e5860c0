/** Headers of a plain answer as the client receives them: the same that the general path sends. */

import { isHopByHop } from '../../wire/raw-headers.ts'
import { answerHeaders } from '../transports/proxy-headers.ts'
import { rememberNames } from './name-uses.ts'

const useOf = rememberNames<'pass' | 'drop' | 'general'>((name) => {
  // The general rule decides about our own names.
  const lower = name.toLowerCase()
  if (lower.startsWith('plimsoll-')) return 'general'
  return isHopByHop(lower) ? 'drop' : 'pass'
})

/** `raw`: of an answer that `AnswerReader` has read, so `connection` names no other header. `account`: about the job. */
export function plainAnswerHeaders(raw: string[], account: Record<string, string>): string[] {
  const headers: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const use = useOf(raw[i]!)
    if (use === 'general') return answerHeaders(raw, account)
    if (use === 'pass') headers.push(raw[i]!, raw[i + 1]!)
  }
  for (const name in account) headers.push(name, account[name]!)
  return headers
}
