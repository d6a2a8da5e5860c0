/** Deaths of a simulated brain: another takes over, which knows nothing until workers and fronts have told it. */

import { type Random, stream } from '../lib/random.ts'
import { rank, type VirtualClock } from './clock.ts'

/** How one death goes on. */
export interface TakeOver {
  /** Time until the next brain. */
  downMs: number
  /** Further time until fronts reach it, and until the next worker does. */
  frontMs: number
  nodeMs(): number
}

interface Mortal {
  readonly clock: VirtualClock
  takeOver(how: TakeOver): void
}

/** Ends the brain now and then, until `untilMs`. */
export function endBrains(world: Mortal, seed: number, untilMs: number): void {
  const random = stream(seed, 'take-overs')
  const count = 1 + random.below(4)
  for (let i = 0; i < count; i++)
    world.clock.at(random.next() * untilMs, rank.fault, () => world.takeOver(drawTakeOver(random)))
}

function drawTakeOver(random: Random): TakeOver {
  const most = random.next() < 0.5 ? 100 : 2000
  return {
    downMs: random.next() * 500,
    frontMs: random.next() * most,
    nodeMs: () => random.next() * most,
  }
}
