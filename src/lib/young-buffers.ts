/**
 * Collects buffers while they are young. V8 collects young objects when these fill their space, which buffers hardly do, because their bytes
 * are elsewhere. Every 64 MB of buffers would therefore start a collection of the whole heap, which takes longer than passing the bytes on.
 */

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' | 'major' }) => void

/** V8 starts a collection of the whole heap when a small one has grown by about 8 MB, with its buffers. */
const stepBytes = 4 * 1024 * 1024
/** Buffers that are kept for a moment grow old, and only a collection of the whole heap frees them: after this many bytes. */
const oldBytes = 96 * 1024 * 1024

/** The heap belongs to the process, and so does this count. */
let bytes = 0
let collect: Collect | undefined
/** The least bytes outside the heap since the last collection of all of it. */
let least = Infinity

/** A buffer of this size has been allocated, and is soon not used any more. */
export function passedBuffer(size: number): void {
  bytes += size
  if (bytes < stepBytes) return
  bytes = 0
  collect ??= prepare()
  collect({ type: 'minor' })
  const outside = getHeapStatistics().external_memory
  least = Math.min(least, outside)
  if (outside < least + oldBytes) return
  collect({ type: 'major' })
  least = getHeapStatistics().external_memory
}

function prepare(): Collect {
  // Bytes of buffers count as other memory does, instead of having a limit of their own. Later versions of V8 may not know the flag,
  // and would complain.
  if (process.versions.v8.startsWith('13.')) setFlagsFromString('--external-memory-accounted-in-global-limit')
  // The function is exposed to contexts that are created while the flag is set.
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  return found as Collect
}
