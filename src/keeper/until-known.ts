/** Writes of which the store does not know whether it has carried them out. */

import { StoreError } from '../lib/errors.ts'

/** The pauses before a write is repeated; then its caller is told that the store fails. */
const pausesMs = [50, 250, 1_000]

/**
 * Repeats a write until it is known whether it was carried out, a few times. `write` gets true for a repeat. Rejects with
 * the code `STORE_UNKNOWN` if it is still unknown.
 */
export async function untilKnown<T>(
  write: (isRepeat: boolean) => Promise<T>,
  pause: (ms: number) => Promise<void>,
): Promise<T> {
  let unknown: unknown
  for (let tries = 0; ; tries++) {
    try {
      return await write(tries > 0)
    } catch (error) {
      if (isUnknown(error)) unknown ??= error
      // What fails without an effect says nothing about an earlier try.
      if (unknown === undefined || isFenced(error)) throw error
      const ms = pausesMs[tries]
      if (ms === undefined) throw unknown
      await pause(ms)
    }
  }
}

export function isUnknown(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'STORE_UNKNOWN'
}

export function isFenced(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'STORE_FENCED'
}
