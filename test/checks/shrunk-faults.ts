/** The end of the event log of a failing seed of faults, with as few jobs and as short faults as possible. */

import { type ChaosOptions, chaos } from '../../src/simulate/chaos.ts'
import type { SchedulerName } from '../../src/systems/schedulers.ts'
import { kindOf, leastOf } from '../virtual/shrink.ts'

/** Scenarios have at most this many jobs. */
const mostJobs = 100
const mostLines = 40
const mostColumns = 200
/** Faults end this early at first, then ever later. */
const firstEndMs = 500

/** What the run violates; undefined: nothing. */
function violation(policy: SchedulerName, seed: number, options: ChaosOptions): string | undefined {
  try {
    chaos(policy, seed, options)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

export async function shrunkFaults(
  policy: SchedulerName,
  seed: number,
  takeOver: boolean,
): Promise<string[]> {
  const kind = kindOf(violation(policy, seed, { takeOver }))
  const fails = (options: ChaosOptions) => {
    const found = violation(policy, seed, { takeOver, ...options })
    return found !== undefined && kindOf(found) === kind
  }
  const leftOut = await leastOf(mostJobs, (each) => fails({ leftOut: each }))
  let faultsUntilMs = firstEndMs
  while (faultsUntilMs < 2 ** 30 && !fails({ leftOut, faultsUntilMs })) faultsUntilMs *= 2
  const chunks: Uint8Array[] = []
  const log = (chunk: Uint8Array) => void chunks.push(chunk)
  const why = violation(policy, seed, { takeOver, leftOut, faultsUntilMs, log })
  const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean)
  const last = lines.slice(-mostLines).map((line) => line.slice(0, mostColumns))
  return [
    `${policy}, seed ${seed}, shrunk to ${mostJobs - leftOut.size} jobs; the last ${last.length} of ${lines.length} events:`,
    ...last,
    why ?? 'it did not fail again',
  ]
}
