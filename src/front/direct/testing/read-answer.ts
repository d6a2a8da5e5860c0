/** Reads an answer with `AnswerReader`, in given pieces. */

import { ReadBuffers } from '../../../lib/read-buffers.ts'
import { AnswerReader } from '../answer-reader.ts'

export interface ReadAnswer {
  status: number
  message: string
  headers: string[]
  /** As Latin-1. */
  body: string
}

/** `cuts`: where the bytes are divided. Undefined: it is odd, or incomplete. */
export function readAnswer(
  method: string,
  bytes: Buffer,
  cuts: readonly number[] = [],
): { answer: ReadAnswer; keepsAlive: boolean } | undefined {
  const reader = new AnswerReader(method, new ReadBuffers())
  const ends = [...cuts, bytes.length]
  // As the connection does: one buffer for all pieces.
  const shared = Buffer.alloc(bytes.length)
  let from = 0
  for (const end of ends) {
    const length = bytes.copy(shared, 0, from, end)
    reader.read(shared.subarray(0, length))
    shared.fill(0x21)
    from = end
  }
  if (reader.state !== 'done') return undefined
  const { head, body, keepsAlive } = reader
  return { answer: { ...head!, body: Buffer.concat(body).toString('latin1') }, keepsAlive }
}
