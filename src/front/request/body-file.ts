/**
 * A body that does not fit in memory: a temporary file. What arrived last stays in memory, so that the client does not wait for each
 * write, and a program that keeps up with the client is not sent what was read back.
 */

import type { FileHandle } from 'node:fs/promises'
import { readAt, writeAll } from '../temporary-file.ts'
import { chunkOverhead } from './body-budget.ts'

/** Kept in memory besides the file. */
const recentBytes = 512 * 1024
/** Written at a time. */
const stepBytes = 128 * 1024
/** Bytes that wait to be written before the client has to wait. */
const unwrittenBytes = 256 * 1024

interface Recent {
  at: number
  chunk: Buffer
}

export class BodyFile {
  readonly #file: FileHandle
  readonly #reserve: (bytes: number) => boolean
  /** Without gaps, up to the end of the body. The file has all that is not in it. */
  readonly #recent: Recent[] = []
  #recentBytes = 0
  #isReserved = true
  #end: number
  #written: number
  #writing: Promise<void> | undefined
  #failed: Error | undefined

  /**
   * `bytes`: what the file contains. `reserve`: whether there is memory for this many bytes, in place of those reserved
   * before.
   */
  constructor(file: FileHandle, bytes: number, reserve: (bytes: number) => boolean) {
    this.#file = file
    this.#reserve = reserve
    this.#end = this.#written = bytes
  }

  /** Resolves when the next chunk may follow. Rejects if this one or an earlier one cannot be written. */
  async append(chunk: Buffer): Promise<void> {
    if (this.#failed) throw this.#failed
    this.#recent.push({ at: this.#end, chunk })
    this.#end += chunk.length
    this.#recentBytes += chunk.length + chunkOverhead
    this.#trim()
    const unwritten = this.#end - this.#written
    if (!this.#isReserved || unwritten > unwrittenBytes) await this.flushed()
    else if (unwritten >= stepBytes) this.#writing ??= this.#write(stepBytes)
  }

  /** Resolves when all of it is in the file. Rejects if it cannot be written. */
  async flushed(): Promise<void> {
    await this.#writing
    if (!this.#failed && this.#written < this.#end) {
      this.#writing = this.#write(1)
      await this.#writing
    }
    if (this.#failed) throw this.#failed
  }

  /** Some bytes from `at`, which is before the end. */
  async read(at: number): Promise<Buffer> {
    const recent = this.#recent.findLast((each) => each.at <= at)
    if (recent) return recent.chunk.subarray(at - recent.at)
    return readAt(this.#file, at, this.#recent[0]?.at ?? this.#end)
  }

  /** Nothing more arrives; all of it is in the file. */
  forgetRecent(): void {
    this.#recent.length = this.#recentBytes = 0
    this.#reserve(0)
  }

  close(): Promise<void> {
    this.#recent.length = 0
    this.#written = this.#end
    return this.#file.close()
  }

  /** Writes while at least this many bytes wait. */
  async #write(least: number): Promise<void> {
    try {
      while (this.#end - this.#written >= least) {
        const chunks = this.#recent.filter(({ at }) => at >= this.#written).map(({ chunk }) => chunk)
        await writeChunks(this.#file, chunks, this.#written)
        // It may have been closed.
        if (this.#recent.length === 0) break
        for (const { length } of chunks) this.#written += length
        this.#trim()
      }
    } catch (error) {
      this.#failed = error as Error
    }
    this.#writing = undefined
  }

  #trim(): void {
    this.#isReserved = this.#reserve(Math.min(this.#recentBytes, recentBytes))
    const most = this.#isReserved ? recentBytes : 0
    while (this.#recentBytes > most && this.#recent[0]) {
      const { at, chunk } = this.#recent[0]
      if (at + chunk.length > this.#written) return
      this.#recent.shift()
      this.#recentBytes -= chunk.length + chunkOverhead
    }
  }
}

async function writeChunks(file: FileHandle, chunks: Buffer[], at: number): Promise<void> {
  if (chunks.length === 1) return writeAll(file, chunks[0]!, at)
  const { bytesWritten } = await file.writev(chunks, at)
  const all = chunks.reduce((sum, { length }) => sum + length, 0)
  if (bytesWritten < all)
    await writeAll(file, Buffer.concat(chunks).subarray(bytesWritten), at + bytesWritten)
}
