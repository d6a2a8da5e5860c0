/** How long an attempt had a core and was ready to use it: the time by which the brain judges its progress. */

import { idleShare } from './idle-watch.ts'

export class ActiveTime {
  /** Time in which the discipline allowed it a core, or its part of one, until the last change. */
  coreMs = 0
  #seen: { coreMs: number; demandMs: number } | undefined
  #ms = 0

  /**
   * The active time so far; undefined: not known. `coreMs`: time in which it had a core. `demandMs`: time that its threads were
   * on a core or ready to run. One that is neither ready nor waiting for input or output was stopped, and counts as active.
   */
  read(coreMs: number, demandMs: number | undefined): number | undefined {
    if (demandMs === undefined) return undefined
    const hadMs = coreMs - (this.#seen?.coreMs ?? 0)
    const wantedMs = demandMs - (this.#seen?.demandMs ?? 0)
    this.#seen = { coreMs, demandMs }
    this.#ms += wantedMs < idleShare * hadMs ? hadMs : Math.min(hadMs, wantedMs)
    return this.#ms
  }
}
