/** When V8 collects buffers. */

import { setFlagsFromString } from 'node:v8'

/**
 * By default, every 64 MB of new buffers start a collection of the whole heap, however little garbage it contains. Processes that pass bytes on
 * would spend half of their CPU time on it. With this, buffers count as other memory does.
 */
export function collectBuffersWithHeap(): void {
  // Later versions of V8 may not know the flag, and would complain.
  if (process.versions.v8.startsWith('13.')) setFlagsFromString('--external-memory-accounted-in-global-limit')
}
