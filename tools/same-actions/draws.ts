/** Random draws of this tool alone, so that both checkouts run the same scenarios. */

export interface Draws {
  /** Uniform in [0, 1). */
  next(): number
  below(n: number): number
  chance(share: number): boolean
  of<T>(choices: readonly T[]): T
}

/** Mulberry32, seeded with the run and the policy. */
export function drawsOf(seed: number, policy: string): Draws {
  let state = seed
  for (let i = 0; i < policy.length; i++) state = Math.imul(state ^ policy.charCodeAt(i), 0x01000193)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, chance: (share) => next() < share, of: (choices) => choices[below(choices.length)]! }
}
