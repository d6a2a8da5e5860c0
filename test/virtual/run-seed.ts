/** Runs one seed of processes in virtual time. `runProcesses` throws with the promises that were broken. */

import { stream } from '../../src/lib/random.ts'
import { Judge, type ProcessCounts } from './judge.ts'
import { VirtualTime } from './time.ts'
import { World } from './world.ts'

export interface ProcessRun {
  counts: ProcessCounts
  failures: string[]
  /** Number of requests and faults that were planned, whether or not they were left out. */
  planned: number
}

export async function runProcesses(seed: number): Promise<ProcessCounts> {
  const { counts, failures } = await runSeed(seed)
  if (failures.length > 0) throw new Error(`seed ${seed}: ${failures.join('; ')}`)
  return counts
}

/** `leftOut`: numbers of requests and faults that do not happen. `lines`: where events are logged. */
export async function runSeed(
  seed: number,
  { leftOut = new Set(), lines }: { leftOut?: ReadonlySet<number>; lines?: string[] } = {},
): Promise<ProcessRun> {
  const time = new VirtualTime()
  const random = stream(seed, 'timers')
  using _installed = time.install(() => random.next())
  const judge = new Judge(() => time.now, lines)
  time.onCharged = (process, turnMs) => judge.computed(process, turnMs)
  time.onUncaught = (process, error) => judge.uncaught(process, error)
  const { planned, failures } = await new World(seed, time, judge).run(leftOut)
  return { counts: judge.counts, failures, planned }
}
