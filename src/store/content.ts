/** Takes in the content of a request or a result: small contents whole, large ones in parts. */
import type { Content } from './store.ts'

/** Contents above this size do not lie in a row with others. */
export const inlineBytes = 64 * 1024

export type Taken = { bytes: Uint8Array } | { parts: AsyncIterable<Uint8Array> }

/** Reads at most `limit` bytes ahead. `parts` are the whole content, and must be read to its end or returned. */
export async function takeIn(content: Content, limit = inlineBytes): Promise<Taken> {
  if (content instanceof Uint8Array) {
    return content.length <= limit ? { bytes: content } : { parts: once(content) }
  }
  const iterator = content[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let bytes = 0
  while (bytes <= limit) {
    const { done, value } = await iterator.next()
    if (done) return { bytes: Buffer.concat(read) }
    read.push(value)
    bytes += value.length
  }
  return { parts: joined(read, iterator) }
}

/** A copy of all bytes. */
export async function wholeOf(content: Content): Promise<Uint8Array> {
  const taken = await takeIn(content, Infinity)
  return 'bytes' in taken ? new Uint8Array(taken.bytes) : new Uint8Array()
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* joined(read: Uint8Array[], iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* read
    for (;;) {
      const { done, value } = await iterator.next()
      if (done) return
      yield value
    }
  } finally {
    await iterator.return?.()
  }
}

export async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

/** Of the same length, but for the last one. */
export async function* inChunks(
  parts: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes)
  let used = 0
  for await (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const taken = Math.min(chunkBytes - used, part.length - at)
      chunk.set(part.subarray(at, at + taken), used)
      used += taken
      at += taken
      if (used < chunkBytes) continue
      yield chunk
      chunk = Buffer.allocUnsafe(chunkBytes)
      used = 0
    }
  }
  if (used > 0) yield chunk.subarray(0, used)
}
