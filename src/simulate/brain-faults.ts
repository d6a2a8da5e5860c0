/** Faults of the brain's process, drawn from a seed: it stops running for a while, alone or with its whole machine. */

import type { Random } from '../lib/random.ts'
import { rank } from './clock.ts'
import type { Environment } from './environment.ts'

export interface BrainFaultRates {
  /** Mean time between pauses; Infinity: none. */
  everyMs: number
  /** Mean length of a pause. */
  pauseMs: number
  /** The share of the pauses that all workers take, too. */
  together: number
}

export function brainRates(random: Random): BrainFaultRates {
  const everyMs = random.next() < 0.3 ? Infinity : 100 + random.next() * 5000
  const together = random.next() < 0.5 ? 0 : random.next()
  // Most pauses are short delays; some are longer than any limit of the brain.
  return { everyMs, pauseMs: 1 + random.next() ** 2 * 3000, together }
}

/** Freezes and thaws the brain until `untilMs`. */
export function freezeBrain(
  world: Environment,
  { brain: { everyMs, pauseMs, together }, untilMs }: { brain: BrainFaultRates; untilMs: number },
  random: Random,
): void {
  const { clock, process } = world
  const next = () => {
    const at = clock.now + random.exponential() * everyMs
    if (at < untilMs) clock.at(at, rank.fault, freeze)
  }
  const freeze = () => {
    const isWholeMachine = random.next() < together
    const nodes = isWholeMachine ? [...world.nodes.values()].filter(({ frozen }) => !frozen) : []
    process.freeze()
    for (const node of nodes) node.freeze()
    clock.at(clock.now + random.exponential() * pauseMs, rank.fault, () => {
      for (const node of nodes) node.thaw()
      process.thaw()
      next()
    })
  }
  next()
}
