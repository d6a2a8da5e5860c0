/**
 * A 32-bit integer hash. Hashing seed + i gives a random sequence, or a random number per index that does not depend on
 * the order of calls.
 */
export function scramble(n: number): number {
  let bits = Math.imul(n ^ (n >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
