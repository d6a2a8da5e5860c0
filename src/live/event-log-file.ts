/**
 * The event log of a live cluster. Without a file it is discarded. A file that cannot be written (a full disk, an
 * input/output error) stops nothing: lines wait in memory up to a limit, further ones are lost, and a line in their
 * place says how many.
 */

import { closeSync, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs'
import { encodeGap } from '../brain/log/log.ts'
import { LogWriter } from '../brain/log/log-writer.ts'
import { ConfigError } from '../lib/errors.ts'
import { Outage } from '../lib/outage.ts'
import { privateFile } from '../lib/private-files.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'

export interface EventLogFile {
  entry(at: number, event: Event, actions: readonly Action[]): void
  close(): void
}

/** Longest delay before an entry is written. */
const flushMs = 500
/** Lines beyond this are lost while the file cannot be written. */
const mostWaitingBytes = 4 * 1024 * 1024

export interface EventLogOptions {
  /** Undefined: none. */
  file: string | undefined
  spec: BrainSpec
  log(line: string): void
  /** As `writeSync`: writes some of the bytes and returns their number. */
  write?(descriptor: number, bytes: Uint8Array): number
  mostBytes?: number
}

export function eventLogFile(options: EventLogOptions): EventLogFile {
  const { file, spec, log, write = writeSync, mostBytes = mostWaitingBytes } = options
  if (file === undefined) return { entry() {}, close() {} }
  const descriptor = open(file)
  const lines = new WaitingLines(mostBytes)
  const outage = new Outage(
    {
      failed: (why) => `event log: ${file} cannot be written: ${why}`,
      works: (lost) => `event log: ${file} is written again; entries lost: ${lost.toLocaleString('en-US')}`,
    },
    log,
  )
  const drain = (lost = 0) => {
    try {
      for (let next = lines.next; next; next = lines.next) lines.written(write(descriptor, next))
      outage.works()
    } catch (error) {
      outage.failed((error as Error).message, lost)
    }
  }
  const writer = new LogWriter((chunk) => {
    // What waits is written first: room for this chunk may result.
    if (lines.size > 0) drain()
    drain(lines.add(chunk))
  })
  const flush = () => {
    writer.flush()
    if (lines.size > 0) drain()
  }
  writer.header(spec)
  const timer = setInterval(flush, flushMs).unref()
  return {
    entry: (at, event, actions) => writer.entry(at, event, actions),
    close() {
      clearInterval(timer)
      flush()
      if (lines.size > 0)
        log(`event log: ${file} is closed; entries lost: ${lines.size.toLocaleString('en-US')}`)
      closeSync(descriptor)
    },
  }
}

function open(file: string): number {
  try {
    const descriptor = openSync(file, 'w', privateFile)
    // An existing file keeps its mode otherwise. It may also be a pipe or a device.
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, privateFile)
    return descriptor
  } catch (error) {
    throw new ConfigError(
      `--event-log = ${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}

/** Chunks of whole lines that are not written yet. */
class WaitingLines {
  readonly #mostBytes: number
  #chunks: Uint8Array[] = []
  #bytes = 0
  /** Lines lost after the last chunk. */
  #lost = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Number of lines, with the lost ones. */
  get size(): number {
    return this.#chunks.reduce((sum, chunk) => sum + linesIn(chunk), this.#lost)
  }

  /** The next chunk; after the last one, the line that counts the lost ones. */
  get next(): Uint8Array | undefined {
    if (this.#chunks.length === 0 && this.#lost > 0) this.#closeGap()
    return this.#chunks[0]
  }

  /** Returns the number of lines that are lost because too many wait. */
  add(chunk: Uint8Array): number {
    const isFull = this.#chunks.length > 0 && this.#bytes + chunk.length > this.#mostBytes
    if (isFull || (this.#lost > 0 && this.#chunks.length > 0)) {
      const lost = linesIn(chunk)
      this.#lost += lost
      return lost
    }
    if (this.#lost > 0) this.#closeGap()
    this.#push(chunk)
    return 0
  }

  /** The first chunk is written, or its first bytes are. */
  written(bytes: number): void {
    const [first] = this.#chunks
    this.#bytes -= bytes
    if (bytes < first!.length) this.#chunks[0] = first!.subarray(bytes)
    else this.#chunks.shift()
  }

  #closeGap(): void {
    this.#push(new TextEncoder().encode(encodeGap(this.#lost)))
    this.#lost = 0
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }
}

function linesIn(chunk: Uint8Array): number {
  let lines = 0
  for (const byte of chunk) if (byte === 0x0a) lines++
  return lines
}
