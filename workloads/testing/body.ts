/** A request body in several chunks, for tests that call `run` directly. */

import type { RequestBody } from 'plimsoll/workload'

export function fakeBody(bytes: Uint8Array, chunkBytes = 1000): RequestBody {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  return Object.assign(chunks(), { bytes: async () => bytes })
}
