/**
 * A request's body. It can be read while it arrives, and again from its beginning for another attempt: it is kept in
 * memory, and beyond a limit in an unlinked temporary file, within the budget of all bodies.
 */

import type { FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { passedBuffer } from '../../lib/young-buffers.ts'
import type { BodyLimits } from '../../wire/front-settings.ts'
import { RequestProblem } from '../problem.ts'
import { openTemporaryFile, writeAll } from '../temporary-file.ts'
import { type BodyBudget, type BodyShare, chunkOverhead } from './body-budget.ts'
import { BodyFile } from './body-file.ts'
import { ReaderPace } from './reader-pace.ts'

/** How much of a body's beginning estimates may use. */
export const headBytes = 64 * 1024

export interface BodyOptions extends BodyLimits {
  /** A client that sends nothing for this long is refused. Default: the server limits the whole request. */
  stallMs?: number
  /** The refusal of a body above `maxBytes`. Default: a 413 that names the limit. */
  tooLarge?(): RequestProblem
  /** Opens a temporary file. Default: a real one. */
  openFile?(): Promise<FileHandle>
}

export class Body {
  readonly #request: IncomingMessage
  readonly #options: BodyOptions
  readonly #budget: BodyBudget
  /** Undefined: there is no body. */
  readonly #share: BodyShare | undefined
  /** Empty once there is a file. */
  #chunks: Buffer[] = []
  #inMemory = 0
  #file: BodyFile | undefined
  readonly #pace = new ReaderPace()
  /** Resolves when more has arrived, or nothing more will. */
  #more = Promise.withResolvers<void>()
  #broken: Error | undefined
  #discarded = false
  /** Nothing is kept any more. */
  #freed = false
  #stall: NodeJS.Timeout | undefined
  #onBroken: (problem: RequestProblem | undefined) => void = () => {}
  /** Arrived so far. */
  bytes = 0
  complete = false
  /** Names and values in turn, once the body is complete. */
  trailers: string[] = []

  /** Throws a 413 or 503 if the announced length is too large; else calls `sendContinue` and starts to read. */
  constructor(request: IncomingMessage, options: BodyOptions, budget: BodyBudget, sendContinue?: () => void) {
    this.#request = request
    this.#options = options
    this.#budget = budget
    const { announced } = this
    if (announced !== undefined && announced > options.maxBytes) throw this.#tooLarge()
    const refusal = announced ? budget.refusal(announced, options.memoryBytes) : undefined
    if (refusal) throw refusal
    sendContinue?.()
    // Bytes after the head of a request without a body may belong to another protocol.
    if (announced === 0) {
      this.complete = true
      return
    }
    this.#share = budget.open(() =>
      this.#break(tooSlow('arrived too slowly while other requests needed its space')),
    )
    void this.#read()
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

  /** The whole body, in memory that is not shared with other data. */
  async read(): Promise<Uint8Array<ArrayBuffer>> {
    await this.has(Infinity)
    const whole = new Uint8Array(this.bytes)
    let at = 0
    for await (const chunk of this.open()) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }

  /** The whole body; undefined: it has not arrived, is in a file or is discarded. */
  inMemory(): Buffer | undefined {
    if (!this.complete || this.#file || this.#freed) return undefined
    return this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
  }

  /** What has arrived of the first `headBytes`. */
  async head(): Promise<Buffer> {
    const end = Math.min(this.bytes, headBytes)
    const parts: Buffer[] = []
    let have = 0
    for (let i = 0; have < end; i++) {
      const part = this.#file ? await this.#file.read(have) : this.#chunks[i]
      if (!part) throw this.#broken ?? discarded()
      parts.push(part)
      have += part.length
    }
    return Buffer.concat(parts).subarray(0, end)
  }

  /** The body from its beginning, as it arrives. May be called repeatedly. Throws if it breaks off or is discarded. */
  async *open(): AsyncGenerator<Buffer> {
    let next = 0
    for (let at = 0; ; ) {
      if (this.#broken) throw this.#broken
      if (at < this.bytes) {
        if (this.#freed) throw discarded()
        const chunk = this.#file ? await this.#file.read(at) : this.#chunks[next++]!
        at += chunk.length
        this.#pace.reads(at)
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
    this.#discarded = true
    this.#free()
  }

  #free(): void {
    if (this.#freed) return
    this.#freed = true
    this.#chunks = []
    this.#share?.release()
    // The file has no name: a failure to close it leaves nothing to clean up.
    this.#file?.close().catch(() => {})
  }

  async #read(): Promise<void> {
    const { stallMs } = this.#options
    if (stallMs !== undefined)
      this.#stall = setTimeout(() => this.#break(tooSlow('stopped arriving')), stallMs)
    try {
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false })) {
        this.#stall?.refresh()
        passedBuffer(chunk.length)
        await this.#keep(chunk)
        this.#grown()
        if (this.#file) await this.#pace.wait(this.bytes)
      }
      this.trailers = this.#request.rawTrailers
      await this.#storing(() => this.#file?.flushed())
      this.#end()
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
    if (bytes > maxBytes) throw this.#tooLarge()
    if (!this.#freed) {
      const held = chunk.length + chunkOverhead
      const fits = !this.#file && bytes <= memoryBytes && this.#inMemory + held <= 2 * memoryBytes
      if (fits && this.#share?.keepInMemory(held)) {
        this.#inMemory += held
        this.#chunks.push(chunk)
      } else await this.#keepInFile(chunk)
    }
    this.bytes = bytes
  }

  async #keepInFile(chunk: Buffer): Promise<void> {
    await this.#storing(async () => {
      if (!this.#share?.keepInFile(chunk.length)) throw this.#budget.full()
      if (!this.#file) await this.#moveToFile()
      if (this.#file && !this.#freed) await this.#file.append(chunk)
    })
  }

  async #storing(store: () => Promise<void> | undefined): Promise<void> {
    try {
      await store()
    } catch (error) {
      throw this.#freed || problemOf(error) ? error : this.#budget.notStored(error as NodeJS.ErrnoException)
    }
  }

  async #moveToFile(): Promise<void> {
    if (!this.#share?.moveToFile(this.bytes)) throw this.#budget.full()
    const file = await (this.#options.openFile?.() ?? openTemporaryFile('body'))
    try {
      let at = 0
      for (const chunk of this.#chunks) {
        await writeAll(file, chunk, at)
        at += chunk.length
      }
      if (this.#freed) return await file.close()
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
    this.#file = new BodyFile(file, this.bytes, (bytes) => this.#share?.keepRecent(bytes) ?? false)
    this.#chunks = []
    this.#share?.movedToFile()
  }

  #grown(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }

  #end(): void {
    this.complete = true
    if (this.#file) {
      this.#budget.stored()
      this.#file.forgetRecent()
    }
    this.#share?.complete()
    this.#grown()
  }

  #tooLarge(): RequestProblem {
    const { tooLarge, maxBytes } = this.#options
    if (tooLarge) return tooLarge()
    const message = `The body is larger than the ${maxBytes} bytes that are allowed.`
    // The rest of the body is not read.
    return new RequestProblem(413, 'body-too-large', message, { headers: { connection: 'close' } })
  }

  #break(error: Error): void {
    if (this.#broken || this.complete) return
    this.#broken = error
    this.#free()
    if (this.#discarded) this.#request.destroy()
    this.#onBroken(problemOf(error))
    this.#grown()
  }
}

/** Undefined: the client disconnected. */
function problemOf(error: unknown): RequestProblem | undefined {
  return error instanceof RequestProblem ? error : undefined
}

function tooSlow(how: string): RequestProblem {
  return new RequestProblem(408, 'too-slow', `The body of the request ${how}.`, {
    headers: { connection: 'close' },
  })
}

function discarded(): Error {
  return new Error('the body has been discarded')
}
