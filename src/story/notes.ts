/** Adds entries to a story, including entries that are not a plain copy of an action of the brain. */

import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Reason } from '../model/reason.ts'
import { addEntry, type Story, type StoryEvent } from './story.ts'

type Of<T extends Action['type']> = Extract<Action, { type: T }>

/** removes a resume of this moment: the job had its core for no time. */
export function dropEmptyResume({ entries }: Story, now: number): boolean {
  const last = entries.at(-1)
  if (last?.event !== 'resume' || last.at !== now) return false
  entries.pop()
  return true
}

/** The job's priority changed. */
export function noteRank(story: Story, action: Of<'rank'>, now: number): void {
  const { precedence, reason } = action
  if (reason.code === 'said-again') return
  const facts: Reason = { ...reason, stands: precedence.until > 0 ? -1 : precedence.tier }
  if (reason.code === 'owed-turn') countTurn(story, { ...reason, hereMs: 0 }, now)
  if (reason.code === 'deadline-near') countTurn(story, reason, now)
  note(story, 'rank', action, facts, now)
}

/** The job goes first: a turn because of its wait, or because of its deadline. */
export function countTurn(story: Story, { hereMs }: Reason, now: number): void {
  if (hereMs !== undefined) story.turns++
  else story.urgentFrom ??= now
}

/** Of consecutive drops of the same attempt, only the first is noted. */
export function noteDrop(story: Story, action: Of<'drop'>, now: number): void {
  const last = story.entries.at(-1)
  if (last?.event !== 'drop' || last.attempt !== action.attempt)
    note(story, 'drop', action, action.reason, now)
}

export function note(
  story: Story,
  event: StoryEvent,
  { attempt, worker }: Omit<AttemptToken, 'epoch' | 'job'> & { worker?: string },
  reason: Reason,
  at: number,
): void {
  addEntry(story, { at, event, reason, attempt, ...(worker !== undefined && { worker }) })
}
