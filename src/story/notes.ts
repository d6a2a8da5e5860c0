/** Entries of a story that are more, or less, than a note of what the brain did. */

import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Reason } from '../model/reason.ts'
import { addEntry, type Story, type StoryEvent } from './story.ts'

type Of<T extends Action['type']> = Extract<Action, { type: T }>

/** If it has had its core for no time at all, that is not told. */
export function resumedForNothing({ entries }: Story, now: number): boolean {
  const last = entries.at(-1)
  if (last?.event !== 'resume' || last.at !== now) return false
  entries.pop()
  return true
}

/** It goes before others from now on, or after them. */
export function ranked(story: Story, action: Of<'rank'>, now: number): void {
  const { precedence, reason } = action
  if (reason.code === 'said-again') return
  const facts: Reason = { ...reason, stands: precedence.until > 0 ? -1 : precedence.tier }
  if (reason.code === 'owed-turn') wentFirst(story, { ...reason, hereMs: 0 }, now)
  if (reason.code === 'deadline-near') wentFirst(story, reason, now)
  note(story, 'rank', action, facts, now)
}

/** For its age, or for its deadline. */
export function wentFirst(story: Story, { hereMs }: Reason, now: number): void {
  if (hereMs !== undefined) story.turns++
  else story.urgentFrom ??= now
}

/** Of those that come one after the other, the first tells enough. */
export function dropped(story: Story, action: Of<'drop'>, now: number): void {
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
