/**
 * Keeps answers that clients read more slowly than workers send them, so that a worker is free as soon as it has
 * answered: first in memory, then in an unlinked temporary file. All answers of a front share one budget. Beyond it the
 * worker has to wait.
 */

import type { FileHandle } from 'node:fs/promises'
import { drained } from './drained.ts'
import type { ClientResponse } from './response.ts'
import { openTemporaryFile, readAt, writeAll } from './temporary-file.ts'

export interface AnswerLimits {
  /** Of all answers together. */
  answerMemoryBytes: number
  answerDiskBytes: number
}

/** One answer may use at most this part of the memory, and of the disk space. */
const memoryPart = 1 / 8
const diskPart = 1 / 4
/** Memory that a chunk takes besides its bytes. */
const overheadBytes = 128

/** Bytes that all answers of a front share. */
export class Budget {
  readonly #mostEach: number
  #left: number

  constructor(bytes: number, part: number) {
    this.#left = bytes
    this.#mostEach = bytes * part
  }

  get left(): number {
    return this.#left
  }

  /** False: nothing is taken. `used`: what the same answer has taken already. */
  take(bytes: number, used: number): boolean {
    if (bytes > this.#left || used + bytes > this.#mostEach) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}

export class AnswerStore {
  readonly memory: Budget
  readonly disk: Budget

  constructor({ answerMemoryBytes, answerDiskBytes }: AnswerLimits) {
    this.memory = new Budget(answerMemoryBytes, memoryPart)
    this.disk = new Budget(answerDiskBytes, diskPart)
  }
}

/** A part of the answer that is kept in the file. */
interface Stored {
  at: number
  bytes: number
}

export interface AnswerEvents {
  /** Bytes wait for the client from now on. May be called repeatedly. */
  behind(): void
  /** The client has read all that has been written so far. */
  caughtUp(): void
  /** What was kept cannot be read again. */
  broken(): void
}

/** The body of one answer on its way to its client. */
export class AnswerBuffer {
  readonly #response: ClientResponse
  readonly #store: AnswerStore
  readonly #on: AnswerEvents
  #kept: (Buffer | Stored)[] = []
  #memoryBytes = 0
  #file: FileHandle | undefined
  /** Space of the file that is in use, and how many parts of the answer are in it. */
  #fileBytes = 0
  #storedParts = 0
  #emptied: Promise<void> = Promise.resolve()
  #unusable = false
  #sending = false
  #keeps = false
  #keeping = false
  #closed = false
  #end: (() => void) | undefined
  /** Resolves when something has been sent. */
  #sent = Promise.withResolvers<void>()

  constructor(response: ClientResponse, store: AnswerStore, on: AnswerEvents) {
    this.#response = response
    this.#store = store
    this.#on = on
    response.once('close', () => this.#close())
  }

  /** A promise asks to wait before the next chunk. */
  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#closed || this.#response.destroyed) return undefined
    if (!this.#sending) {
      if (!this.#response.write(chunk)) void this.#send()
      return undefined
    }
    return this.#keepInMemory(chunk) ? undefined : this.#keep(chunk)
  }

  /** The chunk may be overwritten once `taken` is called. Without `keep`, the caller waits for the client. */
  pass(chunk: Buffer, taken: () => void): void {
    if (this.#closed || this.#response.destroyed) return
    if (!this.#keeps) return void this.#response.write(chunk, taken)
    const room = this.write(Buffer.from(chunk))
    if (room) void room.then(taken)
    else taken()
  }

  /** From now on, chunks that were passed are kept as others are. */
  keep(): void {
    this.#keeps = true
    this.#on.behind()
  }

  /** Calls back when all of it has been passed on. */
  end(then: () => void): void {
    if (this.#sending || this.#keeping) this.#end = then
    else then()
  }

  #keepInMemory(chunk: Buffer): boolean {
    const bytes = chunk.length + overheadBytes
    if (!this.#store.memory.take(bytes, this.#memoryBytes)) return false
    this.#memoryBytes += bytes
    this.#kept.push(chunk)
    return true
  }

  async #keep(chunk: Buffer): Promise<void> {
    this.#keeping = true
    while (!this.#closed && !(await this.#keepInFile(chunk))) {
      // Without a budget, the worker waits for the client.
      if (this.#sending) await this.#sent.promise
      if (this.#closed) break
      if (!this.#sending) {
        if (!this.#response.write(chunk)) void this.#send()
        break
      }
      if (this.#keepInMemory(chunk)) break
    }
    this.#keeping = false
    if (!this.#closed && !this.#sending) void this.#send()
  }

  /** False: it is not kept, because the budget is used up or the disk is full. */
  async #keepInFile(chunk: Buffer): Promise<boolean> {
    if (this.#unusable || !this.#store.disk.take(chunk.length, this.#fileBytes)) return false
    const at = this.#fileBytes
    this.#fileBytes += chunk.length
    this.#storedParts++
    try {
      this.#file ??= await this.#open()
      await this.#emptied
      await writeAll(this.#file, chunk, at)
      if (this.#closed) return true
      this.#kept.push({ at, bytes: chunk.length })
      return true
    } catch {
      this.#unusable = true
      this.#releaseStored()
      return false
    }
  }

  async #open(): Promise<FileHandle> {
    const file = await openTemporaryFile('answer')
    if (this.#closed) await file.close()
    return file
  }

  /** Passes on what is kept, as fast as the client reads. */
  async #send(): Promise<void> {
    this.#sending = true
    this.#on.behind()
    try {
      while (!this.#closed) {
        if (this.#response.writableNeedDrain) {
          // It may have caught up for a moment, while a part was read from the file.
          this.#on.behind()
          await drained(this.#response)
        }
        const next = this.#kept.shift()
        if (next === undefined || this.#closed) break
        const chunk = await this.#read(next)
        if (this.#closed) break
        this.#response.write(chunk)
        this.#sent.resolve()
        this.#sent = Promise.withResolvers()
      }
    } catch {
      if (!this.#closed) this.#on.broken()
    }
    this.#sending = false
    this.#on.caughtUp()
    this.#sent.resolve()
    this.#sent = Promise.withResolvers()
    if (!this.#closed && !this.#keeping) this.#end?.()
  }

  async #read(part: Buffer | Stored): Promise<Buffer> {
    if (Buffer.isBuffer(part)) {
      const bytes = part.length + overheadBytes
      this.#memoryBytes -= bytes
      this.#store.memory.give(bytes)
      return part
    }
    const chunk = await readAll(this.#file!, part)
    this.#releaseStored()
    return chunk
  }

  /** Space in the file is used again once none of it is needed. */
  #releaseStored(): void {
    if (--this.#storedParts > 0) return
    this.#store.disk.give(this.#fileBytes)
    this.#fileBytes = 0
    if (!this.#closed && this.#file) this.#emptied = this.#file.truncate(0)
    this.#emptied.catch(() => {})
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#store.memory.give(this.#memoryBytes)
    this.#store.disk.give(this.#fileBytes)
    this.#memoryBytes = 0
    this.#fileBytes = 0
    this.#kept = []
    this.#sent.resolve()
    // The file has no name: a failure to close it leaves nothing to clean up.
    this.#file?.close().catch(() => {})
  }
}

async function readAll(file: FileHandle, { at, bytes }: Stored): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let done = 0; done < bytes; ) {
    const part = await readAt(file, at + done, at + bytes)
    parts.push(part)
    done += part.length
  }
  return Buffer.concat(parts)
}
