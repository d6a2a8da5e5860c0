/**
 * What pool and slot say to each other, as frames on a socket: length (4 bytes), kind (1 byte), then a JSON
 * message or a chunk of a body.
 */

import type { Socket } from 'node:net'
import { ProtocolError } from '../../lib/errors.ts'
import type { WorkDone } from '../../model/cost.ts'

export type ToSlot =
  | {
      type: 'job'
      job: string
      attempt: number
      workload: string
      params: unknown
      hasBody: boolean
      /** Tell what was counted along with how much work is done. */
      tallies: boolean
    }
  /** The request's body is complete, or broke off with an error. */
  | { type: 'body-end'; error?: string }
  /** So many more bytes of the answer may be sent. */
  | { type: 'credit'; bytes: number }
  /** The slot will not be stopped until it says `release`. */
  | { type: 'held' }

export type FromSlot =
  /** The process is up; from now on it can be stopped without outliving its parent. */
  | { type: 'hello' }
  /** The workloads are loaded. Cold: without the help of the compile cache, which is filled now. */
  | { type: 'ready'; cold: boolean }
  /** The workloads cannot be loaded; the slot ends. */
  | { type: 'unloadable'; message: string }
  /** The job starts, when the process has used so much CPU time in all. A job without it never started. */
  | { type: 'begun'; cpuMs: number }
  | { type: 'credit'; bytes: number }
  | { type: 'progress'; fraction: number }
  /** Work done so far, at a time in milliseconds since 1970. */
  | ({ type: 'work'; at: number } & WorkDone)
  | { type: 'hold' }
  | { type: 'release' }
  | ({ type: 'head' } & AnswerHead)
  /** The job is over. A failure without a head before it is the answer; after a head it breaks the body off. */
  | ({ type: 'end'; cpuMs: number; maxRssMb: number; failure?: SlotFailure } & Partial<WorkDone>)
  /** The process ends itself, and not because it was told to. */
  | ({ type: 'dying'; cpuMs: number; failure?: SlotFailure } & Partial<WorkDone>)

export interface AnswerHead {
  status: number
  contentType: string
  headers: Record<string, string>
}

export interface SlotFailure {
  kind: 'error' | 'limit' | 'crash'
  message: string
  status?: number
}

/** Bytes of a body that may be under way unread. Credit, not the socket, holds back: control never queues behind bodies. */
export const windowBytes = 256 * 1024
export const chunkBytes = 64 * 1024

const headerBytes = 5
/** Far beyond any sensible parameters; a longer frame means that the stream is out of step. */
const mostBytes = 512 * 1024 * 1024
const messageKind = 1
const chunkKind = 2

export function encodeMessage(message: ToSlot | FromSlot): Buffer {
  return encode(messageKind, Buffer.from(JSON.stringify(message)))
}

export function encodeChunk(chunk: Uint8Array): Buffer {
  return encode(chunkKind, chunk)
}

function encode(kind: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length)
  frame.writeUInt32BE(payload.length, 0)
  frame[4] = kind
  frame.set(payload, headerBytes)
  return frame
}

/** Cuts a stream of bytes into frames, wherever the reads happen to break. */
export class FrameReader<M> {
  #parts: Buffer[] = []
  #have = 0
  #need = headerBytes
  readonly #onMessage: (message: M) => void
  readonly #onChunk: (chunk: Buffer) => void

  constructor(onMessage: (message: M) => void, onChunk: (chunk: Buffer) => void) {
    this.#onMessage = onMessage
    this.#onChunk = onChunk
  }

  push(bytes: Buffer): void {
    this.#parts.push(bytes)
    this.#have += bytes.length
    // Joined only once a whole frame is here: a large one arriving in small reads is copied once.
    while (this.#have >= this.#need) {
      const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
      const size = all.readUInt32BE(0)
      if (size > mostBytes)
        throw new ProtocolError(`a frame of ${size} bytes: at most ${mostBytes} are allowed`)
      this.#need = headerBytes + size
      if (all.length < this.#need) {
        this.#parts = [all]
        return
      }
      const payload = all.subarray(headerBytes, this.#need)
      const rest = all.subarray(this.#need)
      this.#parts = rest.length > 0 ? [rest] : []
      this.#have = rest.length
      this.#need = headerBytes
      this.#deliver(all[4]!, payload)
    }
  }

  #deliver(kind: number, payload: Buffer): void {
    if (kind === chunkKind) this.#onChunk(payload)
    else if (kind === messageKind) this.#onMessage(parse(payload) as M)
    else throw new ProtocolError(`a frame of kind ${kind}: must be ${messageKind} or ${chunkKind}`)
  }
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString())
  } catch {
    throw new ProtocolError('a message that is not JSON')
  }
}

/** One end of the socket between pool and slot. */
export class Channel<Out extends ToSlot | FromSlot, In extends ToSlot | FromSlot> {
  readonly #socket: Socket

  constructor(
    socket: Socket,
    on: {
      message(message: In): void
      chunk(chunk: Buffer): void
      broken(error: Error): void
      closed(): void
    },
  ) {
    this.#socket = socket
    const reader = new FrameReader<In>(on.message, on.chunk)
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.push(bytes)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        socket.destroy()
        on.broken(error)
      }
    })
    // The other end died: 'close' follows and says all there is to say.
    socket.on('error', () => {})
    socket.on('close', on.closed)
  }

  /** Written to the kernel at once unless earlier frames wait, so a message goes out even if the caller never yields. */
  send(...messages: (Out | Uint8Array)[]): void {
    if (!this.#socket.writable) return
    const frames = messages.map((it) => (it instanceof Uint8Array ? encodeChunk(it) : encodeMessage(it)))
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames))
  }

  /** True while earlier frames wait for the other end to read. */
  get congested(): boolean {
    return this.#socket.writableLength > 0
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Bytes one side may still send. */
export class Credit {
  #left: number
  #closed = false
  #wake: (() => void) | undefined

  constructor(bytes: number) {
    this.#left = bytes
  }

  grant(bytes: number): void {
    this.#left += bytes
    if (this.#left > 0) this.#wake?.()
  }

  /** Waits until something may be sent, then counts `bytes`. False: nobody wants more. */
  async take(bytes: number): Promise<boolean> {
    while (this.#left <= 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#left -= bytes
    return !this.#closed
  }

  close(): void {
    this.#closed = true
    this.#wake?.()
  }
}

/** Pieces no longer than a chunk, without copying. */
export function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}
