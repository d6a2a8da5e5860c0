/** Handlers that fail in the ways that Lambda reports. */

export const throws = async () => {
  throw new RangeError('no such table')
}

export const exceeds = async () => {
  throw new Error('Rate Exceeded')
}

export const exits = async () => process.exit(3)

export const hangs = () => new Promise(() => setInterval(() => {}, 1000))

export const long = async () => 'x'.repeat(7_000_000)

export const grows = async () => {
  const kept = []
  for (;;) kept.push(new Array(1_000_000).fill(kept.length))
}
