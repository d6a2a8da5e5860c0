/** A log of JSON lines. A failure to write is reported once, and its end once, with the number of lost lines. */

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { Outage } from '../lib/outage.ts'
import { privateFile } from '../lib/private-files.ts'

/** A larger file is renamed to `….1`, replacing the previous one, and a new file is started. */
const mostBytes = 16 * 1024 * 1024
/** After a failure, the file is opened again when this time has passed. */
const usualRetryMs = 5_000

export interface LogFile {
  write(entry: object): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

export function openLogFile(
  file: string,
  report: (message: string) => void,
  retryMs = usualRetryMs,
): LogFile {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  /** When the present stream failed; undefined: it has not. */
  let failedAt: number | undefined
  let closed = false
  const outage = new Outage(
    {
      failed: (why) => `log: ${file} cannot be written: ${why}`,
      works: (lost) => `log: ${file} is written again; lines lost: ${lost.toLocaleString('en-US')}`,
    },
    report,
  )
  let stream = open()

  function open(): WriteStream {
    failedAt = undefined
    const opened = createWriteStream(file, { flags: 'a', mode: privateFile })
    return opened.on('error', ({ message }) => {
      outage.failed(message)
      if (opened === stream) failedAt = performance.now()
    })
  }
  /** Lines that waited behind the one that failed have the same cause. */
  function written(error: Error | null | undefined): void {
    if (error) outage.failed(outage.why ?? error.message, 1)
    else outage.works()
  }
  function write(entry: object): void {
    if (closed) return
    if (failedAt !== undefined) {
      if (performance.now() - failedAt < retryMs) return outage.failed(outage.why ?? '', 1)
      stream = open()
    }
    const text = `${JSON.stringify(entry)}\n`
    bytes += Buffer.byteLength(text)
    stream.write(text, written)
    if (bytes <= mostBytes) return
    bytes = 0
    stream.end()
    try {
      renameSync(file, `${file}.1`)
    } catch {
      // The file does not exist: nothing was written yet, or it was removed.
    }
    stream = open()
  }

  return {
    write,
    async close() {
      closed = true
      stream.end()
      // 'close' is also emitted if opening failed.
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve))
    },
  }
}
