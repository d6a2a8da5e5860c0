/**
 * The brain's own pauses: times in which its process did not run, so that it could not see that others were alive. They
 * do not count when the brain judges others by the time. Deadlines and other promises to clients are not extended.
 */

/** Older pauses are forgotten. */
const kept = 64

export class OwnPauses {
  /** In order of time, without overlaps. */
  readonly #pauses: { from: number; to: number }[] = []

  /** The brain did not run for `ms` until `now`. Returns the part of it that was not known yet. */
  note(ms: number, now: number): number {
    const last = this.#pauses.at(-1)
    const from = Math.max(now - ms, last?.to ?? 0)
    if (!(from < now)) return 0
    if (last?.to === from) last.to = now
    else this.#pauses.push({ from, to: now })
    if (this.#pauses.length > kept) this.#pauses.shift()
    return now - from
  }

  /** The part of the time since `at` in which the brain did not run. */
  since(at: number): number {
    let sum = 0
    for (let i = this.#pauses.length - 1; i >= 0; i--) {
      const { from, to } = this.#pauses[i]!
      if (to <= at) break
      sum += to - Math.max(from, at)
    }
    return sum
  }
}

/** The time since `at` in which the brain ran. */
export function awakeMs({ now, pauses }: { now: number; pauses: OwnPauses }, at: number): number {
  return now - at - pauses.since(at)
}
