/** The event log of one run: its digest, its lines, and where two of them first differ. */

import { createHash } from 'node:crypto'

export interface Log {
  header: string
  /** All lines after the header. */
  entries: Buffer
}

/** What the simulator hands to its `log` option. */
export type Chunk = Uint8Array | string

/** Copies the chunks: the log writer reuses its buffer. */
export function collect(run: (log: (chunk: Chunk) => void) => void): Log {
  const chunks: Buffer[] = []
  run((chunk) => void chunks.push(Buffer.from(chunk as Uint8Array)))
  const bytes = Buffer.concat(chunks)
  const header = bytes.subarray(0, bytes.indexOf('\n') + 1)
  if (!header.includes('"plimsoll":"event-log"')) return { header: '', entries: bytes }
  return { header: header.toString(), entries: bytes.subarray(header.length) }
}

export function digest({ header, entries }: Log, withHeader: boolean): string {
  const hash = createHash('sha256')
  if (withHeader) hash.update(header)
  return hash.update(entries).digest('hex')
}

export function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}

export function mapLines({ header, entries }: Log, line: (text: string) => string): Log {
  const map = (text: string) => text.replace(/.+/g, line)
  return { header: map(header), entries: Buffer.from(map(entries.toString())) }
}

export interface Difference {
  /** Counted from 1; the header is line 1. */
  line: number
  column: number
  old: string
  new: string
}

/** Both texts begin with a header, which `withHeader` includes in the comparison. */
export function firstDifference(old: string, now: string, withHeader: boolean): Difference | undefined {
  const [oldLines, newLines] = [old.split('\n'), now.split('\n')]
  for (let i = withHeader ? 0 : 1; i < Math.max(oldLines.length, newLines.length); i++) {
    const [a, b] = [oldLines[i] ?? '', newLines[i] ?? '']
    if (a === b) continue
    let column = 0
    while (a[column] === b[column]) column++
    return { line: i + 1, column: column + 1, old: a || '(end of log)', new: b || '(end of log)' }
  }
  return undefined
}
