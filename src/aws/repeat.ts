/** Repeats calls to AWS that may succeed later: with exponential pauses and jitter, so that many callers do not repeat together. */

import { AwsError } from './aws-error.ts'

const [firstMs, longestMs] = [500, 20_000]

/** True: the same call may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof AwsError && (error.kind === 'throttled' || error.kind === 'unknown')
}

/** Pause after this many failures in a row, at least 1. `random`: from 0 to 1. */
export function pauseMs(failures: number, random: number): number {
  const longest = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20))
  return Math.round(longest * (0.1 + 0.9 * random))
}

export interface Patience {
  /** Failures in a row after which the last error is thrown. */
  most: number
  wait(ms: number): Promise<void>
  /** From 0 to 1. */
  random(): number
}

export async function repeated<T>({ most, wait, random }: Patience, call: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await call()
    } catch (error) {
      if (!isTransient(error) || failures >= most) throw error
      await wait(pauseMs(failures, random()))
    }
  }
}

export function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
