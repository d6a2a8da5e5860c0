/**
 * The event log: one line of JSON for the header, then one for each event with the actions that it led to.
 * Newline-delimited, versioned, complete: a log replayed through a brain of the same description gives the
 * same actions.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'
import type { BrainSpec } from '../../systems/brain-spec.ts'

export const logVersion = 3

export interface LogHeader {
  plimsoll: 'event-log'
  version: number
  brain: BrainSpec
}

export interface LogEntry {
  at: number
  event: Event
  actions: Action[]
}

export function encodeHeader(brain: BrainSpec): string {
  const header: LogHeader = { plimsoll: 'event-log', version: logVersion, brain }
  return `${JSON.stringify(header)}\n`
}

export function decodeHeader(line: string): LogHeader {
  const header = parse(line, 1) as Partial<LogHeader> | null
  if (header?.plimsoll !== 'event-log')
    throw new ConfigError('line 1: not the header of a plimsoll event log')
  if (header.version !== logVersion) {
    throw new ConfigError(`line 1: event log of version ${header.version}; this is version ${logVersion}`)
  }
  if (typeof header.brain !== 'object' || header.brain === null)
    throw new ConfigError('line 1: must have "brain", the description of the log\'s brain')
  return header as LogHeader
}

export function decodeEntry(line: string, number: number): LogEntry {
  const entry = parse(line, number) as Partial<LogEntry> | null
  const sound = typeof entry?.at === 'number' && typeof entry.event?.type === 'string'
  if (!sound || !Array.isArray(entry.actions)) {
    throw new ConfigError(`line ${number}: must have "at", "event" and "actions"`)
  }
  return entry as LogEntry
}

function parse(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new ConfigError(`line ${number}: not JSON: ${line.slice(0, 60)}`)
  }
}
