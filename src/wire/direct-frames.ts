/**
 * Frames of a direct link between a front and a worker, and between the worker and its slots: many small jobs share one
 * connection. A frame is a length (4 bytes, of what follows), a kind (1 byte), the id of a job on this connection (4 bytes)
 * and what the kind adds. Numbers are little-endian. A worker that passes a frame on replaces the id and copies the rest.
 */

import { ProtocolError } from '../lib/errors.ts'

/** The protocol of the upgrade request that opens a link, at `attemptPath` of the worker. */
export const directProtocol = 'plimsoll-direct'

export const kinds = { job: 1, cancel: 2, answer: 3 } as const

/** Why a job was given back: it did not run here to its end, and must run by the general path. */
export const giveBackReasons = [
  /** The link could not be opened, or broke. */
  'unreachable',
  /** The worker takes no small jobs now: it drains, or has no slots for workloads. */
  'draining',
  /** Too many jobs wait at the worker. */
  'busy',
  'cancelled',
  /** It ran longer than small jobs may. */
  'slow',
  /** Its slot ended, or had to be ended, for whatever reason. */
  'slot-ended',
  /** The answer is produced bit by bit, or is too long. */
  'streamed',
  'long-answer',
  /** Parameters that are too long, or that are no JSON. */
  'params',
  /** Its workload is unknown at the worker, or changes its process, so that a slot serves only one of its jobs. */
  'unsuited',
] as const
export type GiveBackReason = (typeof giveBackReasons)[number]

/** Limits of what a link carries. Longer parameters and answers take the general path. */
export const longestParams = 64 * 1024
export const longestBody = 256 * 1024
/** Of the headers as JSON, and of the tally. */
export const longestText = 64 * 1024
export const longestName = 1024

/** Offsets from the start of a frame, and the sizes of what precedes the parts of variable length. */
export const layout = {
  lengthBytes: 4,
  kindAt: 4,
  idAt: 5,
  headBytes: 9,
  jobBytes: 13,
  outcomeAt: 9,
  statusAt: 10,
  workAt: 12,
  cpuMsAt: 20,
  wallMsAt: 28,
  peakMbAt: 36,
  answerBytes: 52,
} as const
const { lengthBytes, kindAt, idAt, headBytes, jobBytes } = layout
const { outcomeAt, statusAt, workAt, cpuMsAt, wallMsAt, peakMbAt, answerBytes } = layout

export const longestJobFrame = jobBytes + 2 * longestName + longestParams
export const longestAnswerFrame = answerBytes + 6 * longestText + longestBody

export const outcomes = ['result', 'error', 'given-back'] as const

/** A small job, as a slot receives it. */
export interface DirectJob {
  id: number
  workload: string
  job: string
  /** JSON text. Shares the memory of the frame. */
  params: Buffer
}

/** What an answer frame holds. */
export interface AnswerFrame {
  outcome: (typeof outcomes)[number]
  /** Of a result, or of an error: 400 to 499 means that its message is for the client. */
  status: number
  /** Of a job that was given back; `unreachable` for others. */
  reason: GiveBackReason
  work: number
  cpuMs: number
  wallMs: number
  peakMemoryMb: number
  /** JSON of the workload's own headers, and of the tally; empty: none. */
  fields: string
  tally: string
  /** Of a result. Of an error: `FailedAttempt` as JSON. Shares the memory of the frame. */
  body: Buffer
}

/** The part of an answer that its slot knows. */
export type SlotAnswer = Omit<AnswerFrame, 'cpuMs' | 'peakMemoryMb' | 'reason' | 'body'> & {
  body: Uint8Array
}

/** A complete frame within a longer buffer. A decoder uses one object for all frames. */
export class Frame {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  end = 0

  get kind(): number {
    return this.bytes[this.start + kindAt]!
  }
  get id(): number {
    return this.bytes.readUInt32LE(this.start + idAt)
  }

  /** A frame that stays valid. Shares the memory of this one. */
  copy(): Frame {
    const copy = new Frame()
    copy.bytes = this.bytes
    copy.start = this.start
    copy.end = this.end
    return copy
  }

  /** Throws if the frame is not a complete job. */
  checkJob(): void {
    const { bytes, start, end } = this
    if (this.kind !== kinds.job || end - start < jobBytes) throw malformed('job')
    const names = bytes.readUInt16LE(start + headBytes) + bytes.readUInt16LE(start + headBytes + 2)
    if (start + jobBytes + names > end) throw malformed('job')
  }

  /** Of a job. */
  get workload(): string {
    const { bytes, start } = this
    const at = start + jobBytes
    return bytes.toString('latin1', at, at + bytes.readUInt16LE(start + headBytes))
  }

  job(): DirectJob {
    this.checkJob()
    const { bytes, start, end } = this
    const workloadEnd = start + jobBytes + bytes.readUInt16LE(start + headBytes)
    const paramsAt = workloadEnd + bytes.readUInt16LE(start + headBytes + 2)
    return {
      id: this.id,
      workload: this.workload,
      job: bytes.toString('utf8', workloadEnd, paramsAt),
      params: bytes.subarray(paramsAt, end),
    }
  }

  answer(): AnswerFrame {
    this.checkAnswer()
    const { bytes, start, end } = this
    const fieldsAt = start + answerBytes
    const tallyAt = fieldsAt + bytes.readUInt32LE(fieldsAt - 8)
    const bodyAt = tallyAt + bytes.readUInt32LE(fieldsAt - 4)
    const outcome = outcomes[bytes[start + outcomeAt]!]!
    const status = bytes.readUInt16LE(start + statusAt)
    return {
      outcome,
      status,
      reason: outcome === 'given-back' ? (giveBackReasons[status] ?? 'unreachable') : 'unreachable',
      work: bytes.readDoubleLE(start + workAt),
      cpuMs: bytes.readDoubleLE(start + cpuMsAt),
      wallMs: bytes.readDoubleLE(start + wallMsAt),
      peakMemoryMb: bytes.readDoubleLE(start + peakMbAt),
      fields: bytes.toString('utf8', fieldsAt, tallyAt),
      tally: tallyAt === bodyAt ? '' : bytes.toString('utf8', tallyAt, bodyAt),
      body: bytes.subarray(bodyAt, end),
    }
  }

  /** Throws if the frame is not a complete answer. */
  checkAnswer(): void {
    const { bytes, start, end } = this
    if (this.kind !== kinds.answer || end - start < answerBytes) throw malformed('answer')
    const fieldsAt = start + answerBytes
    const texts = bytes.readUInt32LE(fieldsAt - 8) + bytes.readUInt32LE(fieldsAt - 4)
    if (fieldsAt + texts > end || bytes[start + outcomeAt]! >= outcomes.length) throw malformed('answer')
  }

  /** Numbers of an answer, which are read and set in place. */
  get isResult(): boolean {
    return this.bytes[this.start + outcomeAt] === 0
  }
  get wallMs(): number {
    return this.bytes.readDoubleLE(this.start + wallMsAt)
  }
  get cpuMs(): number {
    return this.bytes.readDoubleLE(this.start + cpuMsAt)
  }
  set cpuMs(ms: number) {
    this.bytes.writeDoubleLE(ms, this.start + cpuMsAt)
  }
  set work(units: number) {
    this.bytes.writeDoubleLE(units, this.start + workAt)
  }
  set peakMemoryMb(mb: number) {
    this.bytes.writeDoubleLE(mb, this.start + peakMbAt)
  }
}

const nothing = Buffer.alloc(0)

function malformed(kind: string): ProtocolError {
  return new ProtocolError(`a malformed ${kind} frame`)
}

/** Splits a stream of bytes into frames. Copies only frames that are spread over several chunks. */
export class FrameDecoder {
  readonly #receive: (frame: Frame) => void
  readonly #longest: number
  readonly #reuses: boolean
  readonly #frame = new Frame()
  /** The beginning of a frame: `#have` of its `#need` bytes, which are unknown before its length has arrived. */
  #partial: Buffer = Buffer.alloc(0)
  #have = 0
  #need: number = lengthBytes

  /**
   * `longest`: a longer frame is an error. `reuses`: a frame is valid only until `receive` returns, because its memory is
   * used again.
   */
  constructor(longest: number, receive: (frame: Frame) => void, { reuses = false } = {}) {
    this.#receive = receive
    this.#longest = longest
    this.#reuses = reuses
  }

  /** Throws a `ProtocolError` if the stream is malformed, and must not be called again then. */
  push(chunk: Buffer): void {
    let at = 0
    while (this.#have > 0 && at < chunk.length) at = this.#complete(chunk, at)
    while (chunk.length - at >= lengthBytes) {
      const need = this.#sizeAt(chunk, at)
      if (chunk.length - at < need) break
      this.#deliver(chunk, at, at + need)
      at += need
    }
    if (at < chunk.length) this.#begin(chunk, at)
  }

  /** Adds to the frame that has begun. Returns where the next one begins. */
  #complete(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#need - this.#have)
    chunk.copy(this.#partial, this.#have, at, end)
    this.#have += end - at
    if (this.#have < this.#need) return end
    const have = this.#have
    const need = this.#sizeAt(this.#partial, 0)
    if (have < need) this.#grow(need)
    else {
      const partial = this.#partial
      this.#have = 0
      this.#need = lengthBytes
      if (!this.#reuses) this.#partial = nothing
      this.#deliver(partial, 0, have)
    }
    return end
  }

  #begin(chunk: Buffer, at: number): void {
    const have = chunk.length - at
    this.#have = 0
    this.#grow(have < lengthBytes ? lengthBytes : this.#sizeAt(chunk, at))
    chunk.copy(this.#partial, 0, at)
    this.#have = have
  }

  #grow(need: number): void {
    this.#need = need
    if (this.#partial.length >= need) return
    const larger = Buffer.allocUnsafeSlow(need)
    this.#partial.copy(larger, 0, 0, this.#have)
    this.#partial = larger
  }

  #sizeAt(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32LE(at)
    if (length < headBytes - lengthBytes || lengthBytes + length > this.#longest)
      throw new ProtocolError(
        `a frame of ${length} bytes: must be ${headBytes - lengthBytes} to ${this.#longest}`,
      )
    return lengthBytes + length
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    const frame = this.#frame
    frame.bytes = bytes
    frame.start = start
    frame.end = end
    this.#receive(frame)
  }
}
