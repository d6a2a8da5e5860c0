/** Reads the lines of a plain or gzipped file in chunks, so that files may be larger than memory. */

import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ConfigError } from '../../lib/errors.ts'

/** A file and the option that named it, for messages: `--trace = week.csv`. */
export interface NamedFile {
  option: string
  path: string
}

/** Event logs of large fleets have lines of megabytes: one event may list ten thousand launches. */
const longestLine = 32 * 1024 * 1024
const pieceBytes = 128 * 1024

/**
 * Passes each line, including blank ones, to `take`, without its end (LF or CRLF) and with its number, from 1. `take`
 * returns false to stop.
 */
export async function eachLine(
  file: NamedFile,
  take: (line: string, number: number) => boolean | undefined,
): Promise<void> {
  const decoder = new TextDecoder()
  let number = 0
  let begun: string[] = []
  let begunLength = 0
  const begin = (piece: string) => {
    begun.push(piece)
    begunLength += piece.length
    if (begunLength > longestLine)
      throw wrong(file, number + 1, begun[0]!, `at most ${longestLine} characters`)
  }
  const end = (): boolean => {
    const line = begun.length === 1 ? begun[0]! : begun.join('')
    begun = []
    begunLength = 0
    return take(line.endsWith('\r') ? line.slice(0, -1) : line, ++number) !== false
  }
  for await (const chunk of bytesOf(file)) {
    const text = decoder.decode(chunk, { stream: true })
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      begin(text.slice(from, at))
      if (!end()) return
      from = at + 1
    }
    if (from < text.length) begin(text.slice(from))
  }
  const rest = decoder.decode()
  if (rest !== '') begin(rest)
  if (begunLength > 0) end()
}

/** An error that shows the line and what is allowed. */
export function wrong(file: NamedFile, number: number, line: string, allowed: string): ConfigError {
  const shown = JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}…` : line)
  return new ConfigError(`${file.option} = ${file.path}: line ${number} is ${shown}, must be ${allowed}`)
}

/** Recognises gzip by its first bytes, not by the file name. */
async function* bytesOf({ option, path }: NamedFile): AsyncGenerator<Buffer> {
  const pieces = piecesOf(path)
  try {
    const { value: first, done } = await pieces.next()
    if (done) return
    const whole = joined(first, pieces)
    yield* first[0] === 0x1f && first[1] === 0x8b ? unzipped(whole) : whole
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || error instanceof ConfigError) throw error
    const what = code.startsWith('Z_')
      ? `is not a complete gzip file (${(error as Error).message})`
      : undefined
    throw new ConfigError(`${option} = ${path}: ${what ?? `cannot be read (${code})`}`)
  } finally {
    await pieces.return(undefined)
  }
}

/** Reads nothing ahead: a stream whose file is closed while it reads fails later, when nobody listens any more. */
async function* piecesOf(path: string): AsyncGenerator<Buffer, undefined, undefined> {
  await using file = await open(path)
  for (;;) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes) })
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function* joined(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

function unzipped(zipped: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // Its reader gets all errors.
  return pipeline(zipped, createGunzip(), () => {})
}
