/** A live cluster on this machine. This file connects its parts in the order in which a request passes them. */

import type { Server } from 'node:http'
import { adminServer } from '../admin/admin.ts'
import { storyHandler } from '../admin/why.ts'
import { type Accepting, acceptRequests } from './accept.ts'
import { now } from './clock.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import { stateReader } from './cluster-state.ts'
import { type Core, clusterCore } from './core.ts'
import { type Execution, executeJobs } from './execute.ts'
import { takeInventory } from './fleet/inventory.ts'
import { joinHandlers } from './join.ts'
import { urlOf } from './listen.ts'
import { listMs, planCluster } from './plan.ts'
import { adminHost, openPorts } from './ports.ts'
import { openRecords } from './records.ts'
import { restarter } from './rolling-restart.ts'
import { Stopping } from './stopping.ts'

export type { Cluster, ClusterOptions, ClusterState, FunctionsOptions } from './cluster-options.ts'

/** How often the provider is asked for its machines. */
const listEveryMs = 1_000

/** Rejects with a `ConfigError` that names the option; then nothing is left open. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const plan = await planCluster(options)
  const records = await openRecords(plan, opening)
  const stopping = new Stopping()
  // Jobs arrive at the brain from fronts; workers and functions execute what it decides.
  const core = clusterCore(plan, records, { stopping, perform: (action) => execution.perform(action) })
  const accepting = acceptRequests(core, { workers: () => execution.workers })
  const { front, fronts } = accepting
  opening.defer(() => fronts.close())
  const execution = executeJobs(core, { ...accepting, adminUrl: () => urlOf(admin, adminHost) })
  opening.defer(() => execution.workers.close())
  const { admin, ...operators } = serveOperators(core, accepting, execution)

  await openPorts(plan, { admin, front: front.server }, stopping, opening)
  opening.defer(() => execution.close())
  const frontsUp = execution.frontProcesses.start()
  const { tell, driver, jobs } = core
  opening.adopt(
    takeInventory({
      ...{ provider: execution.fleet, everyMs: listEveryMs, limitMs: listMs, now, tell, log: records.log },
    }),
    (inventory) => inventory.close(),
  )
  opening.defer(() => driver.end())
  tell({ type: 'tick' })
  const opened = opening.move()
  const announce = () => fronts.broadcast({ type: 'stopping' })
  return {
    url: urlOf(front.server, options.host),
    adminUrl: urlOf(admin, adminHost),
    token: plan.token,
    workloads: Object.keys(plan.serving.code),
    ledger: records.ledger,
    ready: Promise.all([execution.firstReady, frontsUp]).then(() => {}),
    ...operators,
    stop: (limitMs) => stopping.stop(limitMs, { jobs, announce, opened }),
  }
}

/** The admin port, and what operators can do there. */
function serveOperators(
  core: Core,
  { front, fronts }: Accepting,
  { fleet, workers, functions, frontProcesses }: Execution,
): Pick<Cluster, 'state' | 'restart'> & { admin: Server } {
  const { plan, records, brain, observers, tell } = core
  const { spec, token, serving } = plan
  const state = stateReader(core, { front, fronts, workers, functions })
  const views = () => brain.view().workers
  const restart = restarter({
    ...{ epoch: spec.epoch, fleet, bootMs: plan.bootMs },
    workers: () =>
      views().flatMap(({ id, state }) => (state === 'ready' && workers.isLaunched(id) ? [id] : [])),
    isThere: (worker) => views().some(({ id }) => id === worker),
    drain: (worker) => tell({ type: 'drain', worker }),
    rollFronts: () => frontProcesses.roll(),
  })
  const admin = adminServer({
    ...{ token, cache: front.cache, state, restart },
    why: storyHandler(observers.stories, spec.discipline, now),
    joining: joinHandlers({ code: serving.joining, workers, fronts, fleet, log: records.log }),
  })
  return { admin, state, restart }
}
