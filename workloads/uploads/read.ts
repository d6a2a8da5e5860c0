/** Reads a request body up to a limit. */

import { Refusal, type RequestBody } from 'plimsoll/workload'

/** Stops reading and rejects with 413 as soon as the body is longer than `mostBytes`. */
export async function readUpload(
  body: RequestBody,
  mostBytes: number,
  tooLarge: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Refusal(413, tooLarge)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}
