/** Reads lines of access logs in the combined format, followed by the time that the request took. */

export const timeUnits = { s: 1000, ms: 1, us: 0.001 } as const
export type TimeUnit = keyof typeof timeUnits

export interface LoggedRequest {
  method: string
  /** Path and query. */
  target: string
  status: number
  /** Milliseconds since 1970. */
  endedAt: number
  tookMs: number
}

/**
 * Address, identity, user, [time], "request", status, bytes, and the rest. The time is short and without brackets, so
 * that a line of brackets is not searched again from each of them.
 */
const lineFormat = /^\S+ \S+ .*?\[([^[\]]{1,64})\] "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3}) (?:\d+|-)(.*)$/
/** A number at the end, or after a name such as `rt=` or `request_time=`. */
const namedTime = /\b(?:rt|request_time|rtime|duration)[=:]"?(\d+(?:\.\d+)?)\b/
const lastNumber = /(?:^|\s)"?(\d+(?:\.\d+)?)"?\s*$/
const timeFormat = /^(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/

/** A message if the line cannot be read. */
export function readLine(line: string, unit: TimeUnit): LoggedRequest | string {
  const [, time, method, target, status, rest = ''] = lineFormat.exec(line) ?? []
  if (time === undefined) return 'it is not in the combined log format'
  const endedAt = readTime(time)
  if (!(endedAt >= 0)) return `its time [${time}] cannot be read`
  const number = (namedTime.exec(rest) ?? lastNumber.exec(rest))?.[1]
  if (number === undefined)
    return 'it has no request time; with nginx, add $request_time to the end of log_format'
  return {
    method: method!,
    target: target!,
    status: Number(status),
    endedAt,
    tookMs: Number(number) * timeUnits[unit],
  }
}

/** For example `18/Nov/2026:09:03:58 +0000`. NaN: it cannot be read. */
function readTime(text: string): number {
  const [, day, month, year, clock, hours, minutes] = timeFormat.exec(text) ?? []
  return Date.parse(`${day} ${month} ${year} ${clock} GMT${hours}${minutes}`)
}
