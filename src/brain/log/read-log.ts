/** Reads an event log line by line. */

import { decodeEntry, decodeHeader, type LogEntry, type LogHeader } from './log.ts'

export type Lines = AsyncIterable<string> | Iterable<string>

/** Calls `entry` with each entry of a log, until it returns false. Returns the header. */
export async function readLog(
  lines: Lines,
  entry: (entry: LogEntry, line: number, header: LogHeader) => boolean,
): Promise<LogHeader> {
  let header: LogHeader | undefined
  let line = 0
  for await (const text of lines) {
    line++
    if (text === '') continue
    if (!header) header = decodeHeader(text)
    else if (!entry(decodeEntry(text, line), line, header)) break
  }
  return header ?? decodeHeader('')
}
