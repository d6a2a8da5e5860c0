/**
 * A request's body. It can be read while it arrives, and again from its beginning for another attempt: it is kept in
 * memory, and beyond a limit in an unlinked temporary file, which disappears with the process.
 */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BodyLimits } from '../../wire/front-settings.ts'
import { RequestProblem } from '../problem.ts'

/** How much of a body's beginning estimates may use. */
export const headBytes = 64 * 1024

/** Bytes read from the file at a time. */
const stepBytes = 64 * 1024

export interface BodyOptions extends BodyLimits {
  /** A client that sends nothing for this long is refused. Default: the server limits the whole request. */
  stallMs?: number
}

export class Body {
  readonly #request: IncomingMessage
  readonly #options: BodyOptions
  /** Empty once there is a file. */
  #chunks: Buffer[] = []
  #file: FileHandle | undefined
  /** Resolves when more has arrived, or nothing more will. */
  #more = Promise.withResolvers<void>()
  #broken: Error | undefined
  #discarded = false
  #stall: NodeJS.Timeout | undefined
  #onBroken: (problem: RequestProblem | undefined) => void = () => {}
  /** Arrived so far. */
  bytes = 0
  /** The first `headBytes`. */
  head: Buffer = Buffer.alloc(0)
  complete = false
  /** Names and values in turn, once the body is complete. */
  trailers: string[] = []

  /** Throws a 413 if the announced length is too large; else calls `sendContinue` and starts to read. */
  constructor(request: IncomingMessage, options: BodyOptions, sendContinue?: () => void) {
    this.#request = request
    this.#options = options
    if (this.announced !== undefined && this.announced > options.maxBytes) throw tooLarge(options)
    sendContinue?.()
    // Bytes after the head of a request without a body may belong to another protocol.
    if (this.announced === 0) this.complete = true
    else void this.#read()
  }

  /** The length that the client announced; 0: it has no body; undefined: it is sent in chunks. */
  get announced(): number | undefined {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#request.headers
    return coding === undefined ? Number(length ?? 0) : undefined
  }

  /** Resolves when this many bytes, or the whole body, have arrived. Rejects if they never will. */
  async has(bytes: number): Promise<void> {
    while (this.bytes < bytes && !this.complete) {
      if (this.#broken) throw this.#broken
      await this.#more.promise
    }
  }

  /** The whole body. */
  async read(): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.open()))
  }

  /** The body from its beginning, as it arrives. May be called repeatedly. Throws if it breaks off or is discarded. */
  async *open(): AsyncGenerator<Buffer> {
    let next = 0
    for (let at = 0; ; ) {
      if (this.#broken) throw this.#broken
      if (at < this.bytes) {
        if (this.#discarded) throw new Error('the body has been discarded')
        const chunk = this.#file ? await readAt(this.#file, at, this.bytes) : this.#chunks[next++]!
        at += chunk.length
        yield chunk
      } else if (this.complete) return
      else await this.#more.promise
    }
  }

  /** Calls back if the body breaks off: with the problem, or undefined if the client disconnected. */
  onBroken(tell: (problem: RequestProblem | undefined) => void): void {
    this.#onBroken = tell
    if (this.#broken) queueMicrotask(() => tell(problemOf(this.#broken)))
  }

  /** Releases what is kept. Bytes that still arrive are dropped. Idempotent. */
  discard(): void {
    if (this.#discarded) return
    this.#discarded = true
    this.#chunks = []
    // The file has no name: a failure to close it leaves nothing to clean up.
    this.#file?.close().catch(() => {})
  }

  async #read(): Promise<void> {
    const { stallMs } = this.#options
    if (stallMs !== undefined) this.#stall = setTimeout(() => this.#stalled(), stallMs)
    try {
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false })) {
        this.#stall?.refresh()
        await this.#keep(chunk)
        this.#grown()
      }
      this.trailers = this.#request.rawTrailers
      this.complete = true
      this.#grown()
    } catch (error) {
      // `discard` may have closed the file between two writes.
      if (this.#discarded && !problemOf(error)) this.#request.resume()
      else this.#break(error as Error)
    } finally {
      clearTimeout(this.#stall)
    }
  }

  async #keep(chunk: Buffer): Promise<void> {
    const { maxBytes, memoryBytes } = this.#options
    const bytes = this.bytes + chunk.length
    if (bytes > maxBytes) throw tooLarge(this.#options)
    if (this.#discarded || this.#broken) {
      this.bytes = bytes
      return
    }
    if (this.head.length < headBytes) {
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes - this.head.length)])
    }
    if (!this.#file && bytes > memoryBytes) await this.#moveToFile()
    if (this.#file) await writeAll(this.#file, chunk, this.bytes)
    else if (!this.#discarded) this.#chunks.push(chunk)
    this.bytes = bytes
  }

  async #moveToFile(): Promise<void> {
    const name = join(tmpdir(), `plimsoll-body-${randomUUID()}`)
    const file = await open(name, 'wx+', 0o600)
    await unlink(name)
    let at = 0
    for (const chunk of this.#chunks) {
      await writeAll(file, chunk, at)
      at += chunk.length
    }
    if (this.#discarded) return file.close()
    this.#file = file
    this.#chunks = []
  }

  #grown(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }

  #stalled(): void {
    this.#break(
      new RequestProblem(408, 'too-slow', 'The body of the request stopped arriving.', {
        headers: { connection: 'close' },
      }),
    )
  }

  #break(error: Error): void {
    if (this.#broken || this.complete) return
    this.#broken = error
    if (this.#discarded) this.#request.destroy()
    this.#onBroken(problemOf(error))
    this.#grown()
  }
}

/** Undefined: the client disconnected. */
function problemOf(error: unknown): RequestProblem | undefined {
  return error instanceof RequestProblem ? error : undefined
}

function tooLarge({ maxBytes }: Pick<BodyLimits, 'maxBytes'>): RequestProblem {
  const message = `The body is larger than the ${maxBytes} bytes that are allowed.`
  // The rest of the body is not read.
  return new RequestProblem(413, 'body-too-large', message, { headers: { connection: 'close' } })
}

async function readAt(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(stepBytes, end - at))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
  if (bytesRead === 0) throw new Error('the temporary file of the body is truncated')
  return buffer.subarray(0, bytesRead)
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}
