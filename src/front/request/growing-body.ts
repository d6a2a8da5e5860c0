/**
 * A request's body that is passed on while it comes, and kept from its beginning for another attempt: in memory, then in
 * a temporary file that has no name, so that nothing of it can be left behind.
 */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BodyLimits } from '../../wire/front-settings.ts'
import { RequestProblem } from '../problem.ts'
import { headBytes, tooLarge } from './body.ts'

/** Read from the file at a time. */
const stepBytes = 64 * 1024

export interface GrowingLimits extends BodyLimits {
  /** A client that sends nothing for so long is cut off. */
  stallMs: number
}

export class GrowingBody {
  readonly #request: IncomingMessage
  readonly #limits: GrowingLimits
  /** What is kept, unless there is a file. */
  #chunks: Buffer[] = []
  #file: FileHandle | undefined
  /** Resolves when more has come, or nothing more will. */
  #more = Promise.withResolvers<void>()
  #broken: Error | undefined
  #discarded = false
  #timer: NodeJS.Timeout | undefined
  /** That have come, and are kept. */
  bytes = 0
  /** Its beginning, up to `headBytes`. */
  head: Buffer = Buffer.alloc(0)
  complete = false
  /** Once it is complete: names and values in turn. */
  trailers: string[] = []
  #tellBroken: (problem: RequestProblem | undefined) => void = () => {}

  /** Throws a 413 if the body is announced to be too long; else calls `wanted`, and begins to read. */
  constructor(request: IncomingMessage, limits: GrowingLimits, wanted?: () => void) {
    this.#request = request
    this.#limits = limits
    if (this.announced !== undefined && this.announced > limits.maxBytes) throw tooLarge(limits)
    wanted?.()
    // One without a body is left alone: what follows its head may be another protocol.
    if (this.announced === 0) this.complete = true
    else void this.#read()
  }

  /** Its length as the client says, 0 if it has none. Undefined: only its end will tell. */
  get announced(): number | undefined {
    const { 'content-length': length, 'transfer-encoding': coding } = this.#request.headers
    return coding === undefined ? Number(length ?? 0) : undefined
  }

  /** Resolves when so many bytes, or all, have come. Rejects if they never will. */
  async has(bytes: number): Promise<void> {
    while (this.bytes < bytes && !this.complete) {
      if (this.#broken) throw this.#broken
      await this.#more.promise
    }
  }

  /** From its beginning, and on as it comes; may be called again and again. */
  async *open(): AsyncGenerator<Buffer> {
    let next = 0
    for (let at = 0; ; ) {
      if (this.#broken) throw this.#broken
      if (at < this.bytes) {
        const chunk = this.#file ? await readAt(this.#file, at, this.bytes) : this.#chunks[next++]!
        at += chunk.length
        yield chunk
      } else if (this.complete) return
      else await this.#more.promise
    }
  }

  /** Who wants to know that it cannot be had whole: because of the problem, or because the client is gone. */
  onBroken(tell: (problem: RequestProblem | undefined) => void): void {
    this.#tellBroken = tell
    if (this.#broken) queueMicrotask(() => tell(problemOf(this.#broken)))
  }

  /** Forgets what was kept; what still comes is not kept any more. Idempotent. */
  discard(): void {
    if (this.#discarded) return
    this.#discarded = true
    this.#chunks = []
    // If it cannot be closed there is nothing to be done about it.
    this.#file?.close().catch(() => {})
  }

  async #read(): Promise<void> {
    this.#timer = setTimeout(() => this.#stalled(), this.#limits.stallMs)
    try {
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false })) {
        this.#timer.refresh()
        await this.#keep(chunk)
        this.#grown()
      }
      this.trailers = this.#request.rawTrailers
      this.complete = true
      this.#grown()
    } catch (error) {
      // The file may have been closed between two writes.
      if (this.#discarded && !problemOf(error)) this.#request.resume()
      else this.#break(error as Error)
    } finally {
      clearTimeout(this.#timer)
    }
  }

  async #keep(chunk: Buffer): Promise<void> {
    const { maxBytes, memoryBytes } = this.#limits
    const bytes = this.bytes + chunk.length
    if (bytes > maxBytes) throw tooLarge(this.#limits)
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
      new RequestProblem(408, 'too-slow', 'The body of the request stopped to come.', {
        headers: { connection: 'close' },
      }),
    )
  }

  #break(error: Error): void {
    if (this.#broken || this.complete) return
    this.#broken = error
    if (this.#discarded) this.#request.destroy()
    this.#tellBroken(problemOf(error))
    this.#grown()
  }
}

/** Undefined: it is not one, but that the client is gone. */
function problemOf(error: unknown): RequestProblem | undefined {
  return error instanceof RequestProblem ? error : undefined
}

async function readAt(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(stepBytes, end - at))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
  if (bytesRead === 0) throw new Error('what was kept of the body is gone')
  return buffer.subarray(0, bytesRead)
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}
