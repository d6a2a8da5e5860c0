/** The overload of a run with faults: times in which arriving jobs are shed. */

import { stream } from '../lib/random.ts'

/** Returns the pressure under which the next job arrives. A third of the scenarios have times of overload. */
export function pressureFrom(seed: number): () => number {
  const random = stream(seed, 'pressure')
  if (random.next() >= 1 / 3) return () => 0
  let [pressure, left] = [0, 0]
  return () => {
    if (left-- <= 0) {
      left = random.below(15)
      pressure = pressure > 0 || random.next() < 0.3 ? 0 : Math.min(1, 0.1 + random.next())
    }
    return pressure
  }
}
