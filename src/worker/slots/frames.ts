/**
 * The protocol between pool and slot: frames on a socket, each with a length (4 bytes), a kind (1 byte), and a JSON
 * message, a chunk of a body, or small jobs or their answers (`wire/direct-frames.ts`), several at a time.
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
      /** Whether reports of work include tallies. */
      tallies: boolean
    }
  /** The request body is complete, or failed with an error. */
  | { type: 'body-end'; error?: string }
  /** The slot may send this many more bytes of the answer. */
  | { type: 'credit'; bytes: number }
  /** The slot will not be stopped until it sends `release`. */
  | { type: 'held' }

export type FromSlot =
  /** The process is up. From now on it can be stopped without outliving its parent. */
  | { type: 'hello' }
  /** The workloads are loaded. Cold: without the compile cache, which is filled now. */
  | { type: 'ready'; cold: boolean }
  /** The workloads cannot be loaded; the slot ends. */
  | { type: 'unloadable'; message: string }
  /** The job starts; `cpuMs` is the CPU time of the process so far. */
  | { type: 'begun'; cpuMs: number }
  | { type: 'credit'; bytes: number }
  | { type: 'progress'; fraction: number }
  /** Work done so far, at a time in milliseconds since 1970. */
  | ({ type: 'work'; at: number } & WorkDone)
  | { type: 'hold' }
  | { type: 'release' }
  | ({ type: 'head' } & AnswerHead)
  /** The job has ended. A failure before the head is the answer; a failure after it ends the body. */
  | ({ type: 'end'; cpuMs: number; maxRssMb: number; failure?: SlotFailure } & EndState & Partial<WorkDone>)
  /**
   * A small job left the process unfit for others, and no more of them run: the job failed for lack of memory, or changed
   * the process. `workload`: whose job changed it, if that is known.
   */
  | { type: 'unfit'; workload?: string | undefined; changes?: string[] }
  /** The process exits by itself. */
  | ({ type: 'dying'; cpuMs: number; failure?: SlotFailure } & Partial<WorkDone>)

interface EndState {
  /** What the job has changed in its process, so that later jobs would notice. */
  changes?: string[]
}

export interface AnswerHead {
  status: number
  contentType: string
  /** Several values: one header line each. */
  headers: Record<string, string | string[]>
  /** The workload produces the body while it runs: each chunk is sent at once. */
  streamed?: true
}

export interface SlotFailure {
  kind: 'error' | 'limit' | 'crash'
  message: string
  /** 400 to 499: the message is for the client. Undefined: it is for the operator. */
  status?: number
  stack?: string
}

/** Bytes of a body that may be in flight. Credit limits senders before the socket does, so messages never wait for bodies. */
export const windowBytes = 256 * 1024
export const chunkBytes = 64 * 1024

const headerBytes = 5
/** Far beyond reasonable parameters: a longer frame means that the stream is corrupt. */
const maxFrameBytes = 512 * 1024 * 1024
const messageKind = 1
const chunkKind = 2
const smallKind = 3
/** Longer frames are not copied behind their header. */
const copiedBytes = 4 * 1024

/** As they were when the process started: a job may replace them. */
const { parse: parseJson, stringify } = JSON

export function encodeMessage(message: ToSlot | FromSlot): Buffer {
  return encode(messageKind, Buffer.from(stringify(message)))
}

export function encodeChunk(chunk: Uint8Array): Buffer {
  return encode(chunkKind, chunk)
}

function encode(kind: number, payload: Uint8Array): Buffer {
  const frame = encodeHeader(kind, payload.length, headerBytes + payload.length)
  frame.set(payload, headerBytes)
  return frame
}

function encodeHeader(kind: number, length: number, bytes = headerBytes): Buffer {
  const frame = Buffer.allocUnsafe(bytes)
  frame.writeUInt32BE(length, 0)
  frame[4] = kind
  return frame
}

/** Splits a stream of bytes into frames. */
export class FrameReader<M> {
  #parts: Buffer[] = []
  #have = 0
  #need = headerBytes
  /** Bytes of small jobs that are still to come, and are passed on as they arrive. */
  #passing = 0
  readonly #onMessage: (message: M) => void
  readonly #onChunk: (chunk: Buffer) => void
  readonly #onSmall: (frames: Buffer) => void

  constructor(
    onMessage: (message: M) => void,
    onChunk: (chunk: Buffer) => void,
    onSmall: (frames: Buffer) => void = () => {},
  ) {
    this.#onMessage = onMessage
    this.#onChunk = onChunk
    this.#onSmall = onSmall
  }

  push(chunk: Buffer): void {
    const bytes = this.#passing > 0 ? this.#pass(chunk) : chunk
    if (bytes.length === 0) return
    // A job may have replaced `push`; its slot must still report that.
    this.#parts[this.#parts.length] = bytes
    this.#have += bytes.length
    // Buffers are concatenated only when a frame is complete, so that a large frame is copied once.
    while (this.#have >= this.#need) {
      const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
      const size = all.readUInt32BE(0)
      if (size > maxFrameBytes)
        throw new ProtocolError(`a frame of ${size} bytes: at most ${maxFrameBytes} are allowed`)
      this.#need = headerBytes + size
      if (all.length < this.#need) {
        if (all[4] === smallKind) this.#passFirst(all)
        else this.#parts = [all]
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

  #passFirst(all: Buffer): void {
    this.#passing = this.#need - headerBytes
    this.#parts = []
    this.#have = 0
    this.#need = headerBytes
    this.#pass(all.subarray(headerBytes))
  }

  /** Returns what is left. */
  #pass(bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, this.#passing)
    this.#passing -= piece.length
    if (piece.length > 0) this.#onSmall(piece)
    return bytes.subarray(piece.length)
  }

  #deliver(kind: number, payload: Buffer): void {
    if (kind === chunkKind) this.#onChunk(payload)
    else if (kind === smallKind) this.#onSmall(payload)
    else if (kind === messageKind) this.#onMessage(parse(payload) as M)
    else throw new ProtocolError(`a frame of kind ${kind}: must be from ${messageKind} to ${smallKind}`)
  }
}

function parse(payload: Buffer): unknown {
  try {
    return parseJson(payload.toString())
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
      small(frames: Buffer): void
      broken(error: Error): void
      closed(): void
    },
  ) {
    this.#socket = socket
    const reader = new FrameReader<In>(on.message, on.chunk, on.small)
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.push(bytes)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        socket.destroy()
        on.broken(error)
      }
    })
    // The other process ended; 'close' follows.
    socket.on('error', () => {})
    socket.on('close', on.closed)
  }

  /** Writes to the kernel at once unless earlier frames wait, so a message is sent even if the caller never yields. */
  send(...messages: (Out | Uint8Array)[]): void {
    if (!this.#socket.writable) return
    const frames = messages.map((it) => (it instanceof Uint8Array ? encodeChunk(it) : encodeMessage(it)))
    this.#socket.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames))
  }

  /** Sends frames of small jobs or of their answers, all complete. True: their memory is not needed any more. */
  sendSmall(frames: Uint8Array): boolean {
    const socket = this.#socket
    if (!socket.writable) return true
    if (frames.length <= copiedBytes) {
      socket.write(encode(smallKind, frames))
      return true
    }
    socket.cork()
    socket.write(encodeHeader(smallKind, frames.length))
    socket.write(frames)
    socket.uncork()
    return socket.writableLength === 0
  }

  /** Whether earlier frames wait for the other end to read. */
  get congested(): boolean {
    return this.#socket.writableLength > 0
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Bytes that one side may still send. */
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

  /** Waits until something may be sent, then subtracts `bytes`. Returns false after `close`. */
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

/** Divides bytes into chunks, without copying. */
export function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}
