/** Replays an event log through a brain with the same settings, which must decide the same actions. */

import type { LogHeader } from '../brain/log/log.ts'
import { type Lines, readLog } from '../brain/log/read-log.ts'
import { brainOf, loggedBrain } from '../systems/brain-spec.ts'

export interface ReplayResult {
  header: LogHeader
  events: number
  actions: number
  /** The first entry whose actions differ. */
  difference?: { line: number; logged: string; replayed: string }
  /** Entries that could not be written are missing: nothing after them can be compared. */
  gap?: { line: number; lost: number }
}

/** Stops at the first difference or gap. */
export async function replay(lines: Lines): Promise<ReplayResult> {
  let brain: ReturnType<typeof brainOf> | undefined
  let events = 0
  let count = 0
  let difference: ReplayResult['difference']
  let gap: ReplayResult['gap']
  const header = await readLog(
    lines,
    ({ at, event, actions }, line, header) => {
      brain ??= brainOf(loggedBrain(header))
      const replayed = JSON.stringify(brain.handle(event, at))
      const logged = JSON.stringify(actions)
      events++
      count += actions.length
      if (replayed !== logged) difference = { line, logged, replayed }
      return difference === undefined
    },
    (lost, line) => {
      gap = { line, lost }
      return false
    },
  )
  return { header, events, actions: count, ...(difference && { difference }), ...(gap && { gap }) }
}
