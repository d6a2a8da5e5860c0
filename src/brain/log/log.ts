/**
 * The event log: a header line, then one line of JSON for each event with the actions that it led to. Newline-delimited,
 * versioned and complete: a brain built from the header and fed the events of the log takes the same actions. Only a full
 * disk makes a gap: a line in place of the entries says how many are missing.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'

export const logVersion = 4

export interface LogHeader {
  plimsoll: 'event-log'
  version: number
  /** Describes the brain that wrote the log, in plain data. `systems/brain-spec.ts` knows its type. */
  brain: object
}

export interface LogEntry {
  at: number
  event: Event
  actions: Action[]
}

export function encodeHeader(brain: object): string {
  const header: LogHeader = { plimsoll: 'event-log', version: logVersion, brain }
  return `${JSON.stringify(header)}\n`
}

export function encodeEntry(at: number, event: Event, actions: readonly Action[]): string {
  return `${JSON.stringify({ at, event, actions })}\n`
}

/** In place of entries that could not be written. */
export function encodeGap(lost: number): string {
  return `${JSON.stringify({ lost })}\n`
}

/** The number of entries that are missing in place of this line; undefined: the line is an entry. */
export function decodeGap(line: string): number | undefined {
  const [, lost] = /^\{"lost":(\d+)\}$/.exec(line) ?? []
  return lost === undefined ? undefined : Number(lost)
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

/** `number`: the line's, for errors. */
export function decodeEntry(line: string, number: number): LogEntry {
  const entry = parse(line, number) as Partial<LogEntry> | null
  const hasEvent = typeof entry?.at === 'number' && typeof entry.event?.type === 'string'
  if (!hasEvent || !Array.isArray(entry.actions)) {
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
