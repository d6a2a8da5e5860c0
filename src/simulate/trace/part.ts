/** A part of a trace, by time. */

import { ConfigError } from '../../lib/errors.ts'
import { dateOf } from './table.ts'
import type { Trace } from './trace.ts'

/** In seconds since the start of the trace, or as dates if the trace has them; `until` is exclusive. */
export interface Window {
  from?: string | undefined
  until?: string | undefined
}

export function partOf(trace: Trace, { from, until }: Window): Trace {
  if (from === undefined && until === undefined) return trace
  const { recorded } = trace
  const { atMs } = recorded
  const beginsMs = from === undefined ? trace.beginsMs : momentOf(trace, '--from', from)
  const first = from === undefined ? 0 : firstFrom(atMs, beginsMs)
  const end = until === undefined ? atMs.length : firstFrom(atMs, momentOf(trace, '--until', until))
  if (first >= end) {
    const options = [from !== undefined && `--from = ${from}`, until !== undefined && `--until = ${until}`]
    throw new ConfigError(
      `${options.filter(Boolean).join(', ')}: no traffic in between; ${trace.name} goes ${extent(trace)}`,
    )
  }
  const part =
    recorded.kind === 'counts'
      ? { ...recorded, atMs: atMs.subarray(first, end), counts: recorded.counts.subarray(first, end) }
      : {
          ...recorded,
          atMs: atMs.subarray(first, end),
          seconds: recorded.seconds.subarray(first, end),
          ...(recorded.known && { known: recorded.known.slice(first, end) }),
        }
  // A recording that begins later starts at its first row, not with a wait.
  return { ...trace, beginsMs: Math.max(beginsMs, trace.beginsMs), recorded: part }
}

function momentOf(trace: Trace, option: string, text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text)
  if (seconds >= 0 && seconds < Infinity) return trace.beginsMs + seconds * 1000
  const date = dateOf(text)
  if (date !== undefined && trace.dated) return date
  const dates = trace.dated ? ', or a date (UTC) such as 1998-06-30 or 1998-06-30T14:30' : ''
  const missing = date !== undefined ? ` (${trace.name} has no dates)` : ''
  throw new ConfigError(`${option} = ${text}: must be seconds since the trace begins${dates}${missing}`)
}

function extent(trace: Trace): string {
  const { atMs } = trace.recorded
  const last = atMs[atMs.length - 1]!
  if (trace.dated) return `from ${new Date(atMs[0]!).toISOString()} to ${new Date(last).toISOString()}`
  return `from ${atMs[0]! / 1000} s to ${last / 1000} s`
}

/** The index of the first entry at or after `moment`. */
function firstFrom(atMs: Float64Array, moment: number): number {
  let low = 0
  let high = atMs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (atMs[middle]! < moment) low = middle + 1
    else high = middle
  }
  return low
}
