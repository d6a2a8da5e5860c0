/** The ways in which the system refuses to start a process, as Node's `spawn` reports them. Drawn from the seed. */

import type { Random } from '../../src/lib/random.ts'

export const spawnErrors = {
  /** No free descriptor: an `error` event of a process that has no streams. */
  EMFILE: { throws: false, streams: false },
  /** Too many processes: an `error` event. */
  EAGAIN: { throws: false, streams: true },
  /** No memory: thrown. */
  ENOMEM: { throws: true, streams: false },
} as const

export type SpawnErrorCode = keyof typeof spawnErrors
const codes = Object.keys(spawnErrors) as SpawnErrorCode[]

export interface SpawnFailures {
  /** Starts that failed. */
  readonly count: number
  /** Why the start of a process fails now; undefined: it does not. */
  draw(now: number): SpawnErrorCode | undefined
  /** Starts fail for this time. */
  refuse(untilMs: number): void
}

/** `isOn`: single starts fail, too. */
export function spawnFailures(
  random: Random,
  { isOn, busyMs }: { isOn: boolean; busyMs: number },
): SpawnFailures {
  const share = isOn ? 0.3 * random.next() : 0
  let refusedUntilMs = 0
  let count = 0
  return {
    get count() {
      return count
    },
    draw(now) {
      const fails = now < refusedUntilMs || (now < busyMs && random.next() < share)
      if (!fails) return undefined
      count++
      return codes[random.below(codes.length)]
    },
    refuse(untilMs) {
      refusedUntilMs = Math.max(refusedUntilMs, untilMs)
    },
  }
}

export function spawnError(code: SpawnErrorCode): Error {
  return Object.assign(new Error(`spawn ${code}`), { code })
}
