/** Writes frames of direct links: see `direct-frames.ts`. */

import {
  type Frame,
  type GiveBackReason,
  giveBackReasons,
  kinds,
  layout,
  longestName,
  longestParams,
  outcomes,
  type SlotAnswer,
} from './direct-frames.ts'

const { lengthBytes, kindAt, idAt, headBytes, jobBytes } = layout
const { outcomeAt, statusAt, workAt, cpuMsAt, wallMsAt, peakMbAt, answerBytes } = layout

const slabBytes = 64 * 1024
/** Longer memory is not used again. */
const mostReused = 1024 * 1024

/** Frames that wait to be written, one after another in memory. */
export class FrameWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(slabBytes)
  #start = 0
  #end = 0

  get bytes(): number {
    return this.#end - this.#start
  }

  /** `params` must not be longer than `longestParams`: see `fitsLink`. */
  job(
    id: number,
    { workload, job, params }: { workload: string; job: string; params: Uint8Array | string },
  ): void {
    const isText = typeof params === 'string'
    // Three bytes at most for each character of UTF-16.
    const most = jobBytes + 3 * (workload.length + job.length) + (isText ? 3 * params.length : params.length)
    const at = this.#reserve(most)
    const slab = this.#slab
    let end = at + jobBytes
    const workloadBytes = slab.write(workload, end, 'latin1')
    end += workloadBytes
    const nameBytes = slab.write(job, end)
    end += nameBytes
    if (isText) end += slab.write(params, end)
    else {
      slab.set(params, end)
      end += params.length
    }
    slab.writeUInt16LE(workloadBytes, at + headBytes)
    slab.writeUInt16LE(nameBytes, at + headBytes + 2)
    this.#close(at, end, kinds.job, id)
  }

  cancel(id: number): void {
    const at = this.#reserve(headBytes)
    this.#close(at, at + headBytes, kinds.cancel, id)
  }

  answer(id: number, { outcome, status, work, wallMs, fields, tally, body }: SlotAnswer): void {
    const at = this.#reserve(answerBytes + 3 * (fields.length + tally.length) + body.length)
    const slab = this.#slab
    slab[at + outcomeAt] = outcomes.indexOf(outcome)
    slab.writeUInt16LE(status, at + statusAt)
    slab.writeDoubleLE(work, at + workAt)
    slab.writeDoubleLE(0, at + cpuMsAt)
    slab.writeDoubleLE(wallMs, at + wallMsAt)
    slab.writeDoubleLE(0, at + peakMbAt)
    let end = at + answerBytes
    const fieldsBytes = fields === '' ? 0 : slab.write(fields, end)
    end += fieldsBytes
    const tallyBytes = tally === '' ? 0 : slab.write(tally, end)
    end += tallyBytes
    slab.writeUInt32LE(fieldsBytes, at + answerBytes - 8)
    slab.writeUInt32LE(tallyBytes, at + answerBytes - 4)
    slab.set(body, end)
    this.#close(at, end + body.length, kinds.answer, id)
  }

  giveBack(id: number, reason: GiveBackReason): void {
    const at = this.#reserve(answerBytes)
    this.#slab.fill(0, at, at + answerBytes)
    this.#slab[at + outcomeAt] = outcomes.indexOf('given-back')
    this.#slab.writeUInt16LE(giveBackReasons.indexOf(reason), at + statusAt)
    this.#close(at, at + answerBytes, kinds.answer, id)
  }

  /** Copies a frame, with another id. */
  pass(frame: Frame, id: number): void {
    const at = this.#reserve(frame.end - frame.start)
    this.#slab.set(frame.bytes.subarray(frame.start, frame.end), at)
    this.#slab.writeUInt32LE(id, at + idAt)
    this.#end = at + frame.end - frame.start
  }

  /** Returns what was written since the last call. The memory is not used again before `reuse`. */
  take(): Buffer {
    const taken = this.#slab.subarray(this.#start, this.#end)
    this.#start = this.#end
    return taken
  }

  /** What was taken is not needed any more: for example, the system has a copy. */
  reuse(): void {
    if (this.bytes > 0 || this.#slab.length > mostReused) return
    this.#start = this.#end = 0
  }

  #close(at: number, end: number, kind: number, id: number): void {
    const slab = this.#slab
    slab.writeUInt32LE(end - at - lengthBytes, at)
    slab[at + kindAt] = kind
    slab.writeUInt32LE(id, at + idAt)
    this.#end = end
  }

  #reserve(bytes: number): number {
    if (this.#end + bytes > this.#slab.length) {
      const old = this.#slab.subarray(this.#start, this.#end)
      this.#slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, 2 * (old.length + bytes)))
      this.#slab.set(old)
      this.#start = 0
      this.#end = old.length
    }
    return this.#end
  }
}

/** True: the job is short enough for a link. */
export function fitsLink({
  workload,
  job,
  params,
}: {
  workload: string
  job: string
  params: Uint8Array | string
}): boolean {
  const bytes = typeof params === 'string' ? Buffer.byteLength(params) : params.length
  return bytes <= longestParams && 3 * workload.length <= longestName && 3 * job.length <= longestName
}
