/** Reads an event log line by line. */

import { decodeEntry, decodeGap, decodeHeader, type LogEntry, type LogHeader } from './log.ts'

export type Lines = AsyncIterable<string> | Iterable<string>

/** Calls `entry` with each entry of a log, and `gap` where entries are missing, until one returns false. Returns the header. */
export async function readLog(
  lines: Lines,
  entry: (entry: LogEntry, line: number, header: LogHeader) => boolean,
  gap: (lost: number, line: number) => boolean = () => true,
): Promise<LogHeader> {
  let header: LogHeader | undefined
  let line = 0
  for await (const text of lines) {
    line++
    if (text === '') continue
    if (!header) {
      header = decodeHeader(text)
      continue
    }
    const lost = decodeGap(text)
    const goesOn = lost === undefined ? entry(decodeEntry(text, line), line, header) : gap(lost, line)
    if (!goesOn) break
  }
  return header ?? decodeHeader('')
}
