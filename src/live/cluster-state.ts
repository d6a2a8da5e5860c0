/** The state of a live cluster, as operators see it. */

import type { Functions } from '../front/transports/function.ts'
import type { Accepting } from './accept.ts'
import { now } from './clock.ts'
import type { ClusterState } from './cluster-options.ts'
import type { Core } from './core.ts'
import type { Delegation } from './direct/delegation.ts'
import type { FrontState } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'

export interface StateParts extends Omit<Accepting, 'tellFronts' | 'frontIds'> {
  workers: JoinedWorkers
  functions: Functions | undefined
  delegation: Pick<Delegation, 'totals'>
}

/** Uptime counts from the call. */
export function stateReader(core: Core, parts: StateParts): () => ClusterState {
  const { brain, observers, launchTroubles, overload, plan, problems, records } = core
  const { workers, functions, delegation } = parts
  const { spec } = plan
  const began = performance.now()
  return () => {
    const view = brain.view()
    const cache = countersOf(core, parts)
    return {
      ...view,
      workers: view.workers.map((worker) => ({
        ...worker,
        pid: workers.pidOf(worker.id),
        address: workers.addressOf(worker.id),
        ...(problems.has(worker.id) && { problem: problems.get(worker.id)! }),
      })),
      policy: spec.scheduler,
      discipline: spec.discipline,
      uptimeMs: performance.now() - began,
      launchTroubles,
      overload: overload.status(),
      steps: observers.fleetStory.steps(),
      estimates: records.errors.all(),
      money: observers.bill.at(now()),
      functions: functions?.list() ?? [],
      ...(cache && { cache }),
      direct: delegation.totals(),
      fronts: frontStates(core.jobs.size, parts),
    }
  }
}

/** Undefined: answers are neither cached nor shared. */
function countersOf({ plan: { options } }: Core, { front, fronts, cache }: StateParts) {
  const inside = front?.repeatCounters()
  if (!cache && !options.coalesce) return undefined
  return { ...noCounters, ...cache?.counters(), shared: (inside?.shared ?? 0) + fronts.shared() }
}

const noCounters = { hits: 0, misses: 0, entries: 0, bytes: 0, mostBytes: 0 }

function frontStates(openJobs: number, { front, fronts }: StateParts): FrontState[] {
  const others = fronts.list()
  if (!front) return others
  const elsewhere = others.reduce((sum, { inHand }) => sum + inHand, 0)
  const inHand = openJobs - elsewhere
  return [{ id: 'main', pid: process.pid, state: 'ready', inHand, accepted: front.accepted() }, ...others]
}
