/** The fleet of a run with faults: how its provider fails, and the state it must reach afterwards. */

import { InvariantError } from '../lib/errors.ts'
import type { Random } from '../lib/random.ts'
import type { ProviderFaultRates } from './provider-faults.ts'
import type { World } from './world.ts'

/** The brain is told how late lists may be, and they keep to it; their errors have no bound. */
export const listMs = 1500

export function providerRates(random: Random): Omit<ProviderFaultRates, 'untilMs'> {
  const often = (most: number) => (random.next() < 0.3 ? 0 : random.next() * most)
  return {
    launchFails: often(0.3),
    launchHangs: often(0.2),
    launchTwice: often(0.3),
    twinHangs: often(0.1),
    diesBooting: often(0.2),
    bootsLate: often(0.2),
    silentFailure: random.next(),
    listEveryMs: 100 + random.next() * 700,
    listLost: often(0.5),
    listTwice: often(0.5),
    listStaleMs: random.next() * listMs,
    listDelayMs: often(1000),
    entryLost: often(0.6),
    entryTwice: often(0.4),
    ghost: often(0.5),
    empty: often(0.5),
    strayEveryMs: 500 + random.next() * 10_000,
  }
}

/** Once faults end, brain, provider and workers must agree on a fleet of the right size without jobs. */
export function settled(world: World, min: number, max: number): void {
  const view = world.brain.view()
  const known = new Set(view.workers.map((worker) => worker.id))
  const strangers = [...world.nodes.keys()].filter((id) => !known.has(id))
  if (strangers.length > 0) fail(`workers still run that the brain does not know: ${strangers.join(', ')}`)
  const gone = [...known].filter((id) => !world.nodes.has(id))
  if (gone.length > 0) fail(`the brain counts workers that have ended: ${gone.join(', ')}`)
  const size = view.ready + view.booting.length
  if (size < min || size > max)
    fail(`${view.ready} workers are ready and ${view.booting.length} are booting; must be ${min} to ${max}`)
  const missing = view.booting.filter((launch) => !world.provider.list().includes(launch))
  if (missing.length > 0) fail(`the brain still waits for failed launches: ${missing.join(', ')}`)
  // Booting machines may still join or fail; all others exist exactly once.
  const launches = [...world.nodes.values()].map(({ launch }) => launch)
  const listed = world.provider.list().filter((launch) => !view.booting.includes(launch))
  if (listed.sort().join() !== launches.sort().join())
    fail(`the provider has ${listed.join(', ')} and bills them, the brain has ${launches.join(', ')}`)
  for (const node of world.nodes.values()) {
    if (node.worker.jobs.length > 0)
      fail(`worker ${node.id} runs ${node.worker.jobs.length} jobs that have ended`)
  }
}

function fail(message: string): never {
  throw new InvariantError(message)
}
