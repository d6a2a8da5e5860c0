/** An event log through a brain of the same description: the actions must come out the same. */

import { decodeEntry, decodeHeader, type LogHeader } from './log.ts'
import { brainOf } from './spec.ts'

export interface ReplayResult {
  header: LogHeader
  events: number
  actions: number
  /** The first entry whose actions differ, if there is one. */
  difference?: { line: number; logged: string; replayed: string }
}

/** Stops at the first difference. */
export async function replay(lines: AsyncIterable<string> | Iterable<string>): Promise<ReplayResult> {
  let result: ReplayResult | undefined
  let brain: ReturnType<typeof brainOf> | undefined
  let number = 0
  for await (const line of lines) {
    number++
    if (line === '') continue
    if (!result || !brain) {
      const header = decodeHeader(line)
      result = { header, events: 0, actions: 0 }
      brain = brainOf(header.brain)
      continue
    }
    const { at, event, actions } = decodeEntry(line, number)
    const replayed = JSON.stringify(brain.handle(event, at))
    const logged = JSON.stringify(actions)
    result.events++
    result.actions += actions.length
    if (replayed !== logged) return { ...result, difference: { line: number, logged, replayed } }
  }
  return result ?? { header: decodeHeader(''), events: 0, actions: 0 }
}
