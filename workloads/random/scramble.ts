/**
 * Scramble: turns a number into 32 bits that look random, always the same ones. Counting up from a seed gives
 * a sequence, and adding a place gives each place its own number without an order to keep.
 */
export function scramble(n: number): number {
  let bits = Math.imul(n ^ (n >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
