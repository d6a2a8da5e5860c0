/** The keeper's process watches itself: while it is overloaded, it accepts no further requests. */

import { OverloadWatch } from '../../front/overload/overload-watch.ts'
import { type ResourceReader, resourceReader } from '../../front/overload/readings.ts'

/** Its own work goes on in every step: sending jobs and storing answers is what ends the overload. */
const doing = {
  0: 'accepts everything',
  1: 'accepts no long requests to be kept',
  2: 'accepts no requests to be kept',
  3: 'accepts no requests to be kept',
} as const

/** Requests with longer bodies are refused from step 1 on. */
const longBytes = 64 * 1024

export interface KeeperOverload {
  /** When a request with a body of this length may be sent again, in milliseconds. Undefined: it is accepted. */
  refusalMs(bodyBytes: number): number | undefined
  close(): void
}

/** `processMb`: as of `resourceReader`. */
export function watchKeeper(
  processMb: number,
  log: (line: string) => void,
  reader: ResourceReader = resourceReader({ memoryMb: processMb }),
): KeeperOverload & { look(): void } {
  const watch = new OverloadWatch({ reader, now: () => performance.now(), log, doing })
  return {
    refusalMs(bodyBytes) {
      if (watch.step < (bodyBytes > longBytes ? 1 : 2)) return undefined
      watch.count('shed')
      return watch.retryAfterMs()
    },
    look: () => watch.look(),
    close: () => watch.close(),
  }
}
