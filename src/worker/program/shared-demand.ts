/**
 * The demand for cores of one job that shares its program, or runs on an upstream. Which job a program computes for is
 * unknown, so a job counts as busy all the time, except while its program as a whole is idle, and while its answer has
 * begun but no byte of it moves: then its client reads slowly, or nobody says anything.
 */
import { idleShare } from '../idle-watch.ts'

export interface SharedReading {
  at: number
  /** Demand of the whole program so far; undefined: unknown. */
  programMs: number | undefined
  /** Bytes sent and received so far; undefined: the answer has not begun. */
  bytes: number | undefined
}

export class SharedDemand {
  #last: SharedReading | undefined
  #busyMs = 0

  /** The demand so far, in milliseconds. */
  read(now: SharedReading): number {
    const last = this.#last
    this.#last = now
    if (last && isBusy(last, now)) this.#busyMs += now.at - last.at
    return this.#busyMs
  }
}

function isBusy(last: SharedReading, now: SharedReading): boolean {
  if (last.bytes !== undefined && last.bytes === now.bytes) return false
  if (last.programMs === undefined || now.programMs === undefined) return true
  return now.programMs - last.programMs >= idleShare * (now.at - last.at)
}
