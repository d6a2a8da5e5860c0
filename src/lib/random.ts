/**
 * Seeded random numbers, with one stream per purpose, so that a new purpose does not shift the draws of
 * the others. The generator is sfc32 (small fast counter, 128 bits of state).
 */

/** A stream of random numbers. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** Uniform integer in [0, n). */
  below(n: number): number
  /** Standard normal. */
  normal(): number
  /** Exponential with mean 1. */
  exponential(): number
}

/** Hashes names to seeds: FNV-1a with a final mix. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) | 0
}

/** The stream for one purpose under one seed. */
export function stream(seed: number, purpose: string): Random {
  let a = hash(purpose)
  let b = seed | 0
  let c = Math.floor(seed / 2 ** 32) | 0
  let d = 1
  const next = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return (t >>> 0) / 4294967296
  }
  for (let i = 0; i < 15; i++) next()
  // The polar method yields normals in pairs.
  let spare = Number.NaN
  const normal = () => {
    if (!Number.isNaN(spare)) {
      const second = spare
      spare = Number.NaN
      return second
    }
    const radius = Math.sqrt(-2 * Math.log(1 - next()))
    const angle = 2 * Math.PI * next()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
  return {
    next,
    below: (n) => Math.floor(next() * n),
    normal,
    exponential: () => -Math.log(1 - next()),
  }
}
