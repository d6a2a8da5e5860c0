/** A request's body, kept until the job is over, because an attempt may have to be repeated. */

import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BodyLimits } from '../../wire/front-settings.ts'
import { RequestProblem } from '../problem.ts'

/** How much of a body's beginning estimates may look at. */
export const headBytes = 64 * 1024

export interface KeptBody {
  readonly bytes: number
  /** Its beginning: `headBytes` of it, or all. */
  readonly head: Uint8Array
  /** The body from its beginning; may be called again and again. */
  open(): Readable
  /** All of it. */
  read(): Promise<Buffer>
  /** Removes what was kept. Idempotent. */
  discard(): Promise<void>
}

/** Reads the whole body. Rejects with a 413 as soon as it is known to be too long, else calls `wanted` first. */
export async function keepBody(
  request: IncomingMessage,
  limits: BodyLimits,
  wanted?: () => void,
): Promise<KeptBody> {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limits.maxBytes) throw tooLarge(limits)
  wanted?.()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > limits.maxBytes) throw tooLarge(limits)
    if (bytes > limits.memoryBytes) return keepInFile(request, chunks, limits)
  }
  const whole = Buffer.concat(chunks)
  return {
    bytes,
    head: whole.subarray(0, headBytes),
    open: () => Readable.from(whole.length > 0 ? [whole] : [], { objectMode: false }),
    read: async () => whole,
    discard: async () => {},
  }
}

async function keepInFile(request: IncomingMessage, first: Buffer[], limits: BodyLimits): Promise<KeptBody> {
  const file = join(tmpdir(), `plimsoll-body-${randomUUID()}`)
  let bytes = 0
  let head: Buffer = Buffer.alloc(0)
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
  }
  const discard = () => rm(file, { force: true })
  const out = createWriteStream(file, { mode: 0o600, flags: 'wx' })
  try {
    await pipeline(async function* () {
      for (const chunk of first) {
        count(chunk)
        yield chunk
      }
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        count(chunk)
        if (bytes > limits.maxBytes) throw tooLarge(limits)
        yield chunk
      }
    }, out)
  } catch (error) {
    // The file may yet be about to be made.
    if (!out.closed) await new Promise<void>((resolve) => out.once('close', resolve))
    await discard()
    throw error
  }
  return {
    bytes,
    head,
    open: () => createReadStream(file),
    read: async () => Buffer.concat(await createReadStream(file).toArray()),
    discard,
  }
}

export function tooLarge({ maxBytes }: Pick<BodyLimits, 'maxBytes'>): RequestProblem {
  return new RequestProblem(
    413,
    'body-too-large',
    `The body is larger than the ${maxBytes} bytes that are allowed.`,
    {
      // What follows of the body is not read.
      headers: { connection: 'close' },
    },
  )
}
