/** Contenders and traffic. */

import type { Contender } from './run.ts'
import { hasTraces, type TrafficName } from './traffic.ts'

export const scoredDay: TrafficName = '1998-06-30'

/** The scored day, or the seeded daily traffic if the traces are missing. */
export function mainTraffic(): TrafficName {
  return hasTraces() ? scoredDay : 'daily'
}

/** Contenders are tuned on these days. */
export function tuningDays(quick: boolean): TrafficName[] {
  if (!hasTraces()) return ['daily']
  return quick ? ['1998-05-29'] : ['1998-05-29', '1998-05-30']
}

export function otherTraffic(): TrafficName[] {
  return hasTraces() ? ['daily', 'functions', 'llm'] : []
}

export const seeds = (quick: boolean): number[] => (quick ? [1] : [1, 2, 3])

export const peers = {
  hpa: [0.6, 0.7, 0.75, 0.8, 0.85, 0.9],
  kpa: [0.3, 0.4, 0.5, 0.6, 0.7],
} as const satisfies Record<string, readonly number[]>

export const fewerPeers = { hpa: [0.8, 0.85, 0.9], kpa: [0.4, 0.5] } as const

export type Peer = keyof typeof peers

export function peer(policy: Peer, target: number): Contender {
  return { scheduler: 'least-connections', scale: { policy, target } }
}

export const ours: Contender = { scheduler: 'srpt', scale: { policy: 'work-forecast' } }
export const atPeak: Contender = { scheduler: 'least-connections', scale: {}, peak: true }

/** From the smallest fleet upwards: the first that keeps the promise has no reserve. */
export const clairvoyants: readonly Contender[] = [1, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5].map((factor) => ({
  scheduler: 'srpt',
  scale: {},
  clairvoyant: { factor, minutes: 5 },
}))
