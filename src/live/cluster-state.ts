/** The state of a live cluster, as operators see it. */

import type { Functions } from '../front/transports/function.ts'
import type { MainFront } from './accept.ts'
import { now } from './clock.ts'
import type { ClusterState } from './cluster-options.ts'
import type { Core } from './core.ts'
import type { FrontState, JoinedFronts } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'

export interface StateParts {
  front: MainFront
  fronts: JoinedFronts
  workers: JoinedWorkers
  functions: Functions | undefined
}

/** Uptime counts from the call. */
export function stateReader(core: Core, parts: StateParts): () => ClusterState {
  const { brain, observers, launchTroubles, overload, plan, problems } = core
  const { workers, functions, front } = parts
  const { spec } = plan
  const began = performance.now()
  return () => {
    const view = brain.view()
    const cache = front.repeatCounters()
    return {
      ...view,
      workers: view.workers.map((worker) => ({
        ...worker,
        pid: workers.pidOf(worker.id),
        ...(problems.has(worker.id) && { problem: problems.get(worker.id)! }),
      })),
      policy: spec.scheduler,
      discipline: spec.discipline,
      uptimeMs: performance.now() - began,
      launchTroubles,
      overload: overload.status(),
      steps: observers.fleetStory.steps(),
      money: observers.bill.at(now()),
      functions: functions?.list() ?? [],
      ...(cache && { cache }),
      fronts: frontStates(core.jobs.size, parts),
    }
  }
}

function frontStates(openJobs: number, { front, fronts }: StateParts): FrontState[] {
  const others = fronts.list()
  const elsewhere = others.reduce((sum, { inHand }) => sum + inHand, 0)
  const inHand = openJobs - elsewhere
  return [{ id: 'main', pid: process.pid, state: 'ready', inHand, accepted: front.accepted() }, ...others]
}
