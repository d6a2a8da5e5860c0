/** Small answers are read before they are stored, so that they can be stored again if that fails. */

import type { Content } from '../store/store.ts'

const mostBytes = 256 * 1024

/** Resolves with all bytes, or with the rest of a long body behind what was read. Rejects if it breaks off before. */
export async function heldAnswer(body: AsyncIterable<Uint8Array>): Promise<Content> {
  const chunks = body[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let bytes = 0
  while (bytes <= mostBytes) {
    const { value, done } = await chunks.next()
    if (done) return Buffer.concat(parts)
    parts.push(value)
    bytes += value.length
  }
  return (async function* () {
    yield* parts
    yield* { [Symbol.asyncIterator]: () => chunks }
  })()
}
