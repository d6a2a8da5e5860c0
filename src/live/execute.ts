/** Executes the brain's decisions: the fleet, its workers and functions. */

import type { ClusterFunctions } from '../front/transports/function.ts'
import type { Action } from '../model/action.ts'
import type { ProviderEvents } from '../model/provider.ts'
import type { Accepting } from './accept.ts'
import type { Core } from './core.ts'
import type { Delegation } from './direct/delegation.ts'
import { readCpuOf } from './fleet/cpu-readings.ts'
import { localFleet } from './fleet/local.ts'
import { type SpareFleet, spareFleet } from './fleet/spares.ts'
import { workerCommand } from './fleet/worker-command.ts'
import type { Door } from './fronts/door.ts'
import { openFunctions } from './functions/settings.ts'
import { JoinedWorkers } from './joined-workers.ts'
import { performer } from './perform.ts'
import type { ToBrain } from './supervise/messages.ts'
import { supervisedFleet } from './supervise/supervised-fleet.ts'
import type { Versions } from './versions.ts'

export interface ExecuteParts extends Accepting {
  door: Door
  versions: Versions
  /** Where workers and fronts join. */
  adminUrl(): string
  delegation(): Pick<Delegation, 'programs'>
}

export interface Execution {
  fleet: SpareFleet
  workers: JoinedWorkers
  functions: ClusterFunctions | undefined
  /** Resolves when the first worker can run jobs. */
  firstReady: Promise<void>
  perform(action: Action): void
  /** Ends all processes, and resolves when none is left. */
  close(): Promise<void>
}

export function executeJobs(core: Core, parts: ExecuteParts): Execution {
  const { versions } = parts
  const {
    plan,
    records,
    brain,
    stopping,
    jobs,
    metrics,
    frontWorkers,
    launchTroubles,
    launches,
    overload,
    tell,
  } = core
  const { fronts, door } = parts
  const { log, storingFor } = records
  const firstReady = Promise.withResolvers<void>()
  const fleet = openFleet(core, parts, (launch) => workers.launchedBy(launch))
  const workers = joinedWorkers(core, parts, { fleet, onReady: firstReady.resolve })
  const functions =
    plan.functions &&
    openFunctions(plan.functions, {
      files: versions.current.files,
      token: plan.attemptToken,
      code: () => plan.serving.code,
      log,
    })
  const { machines } = plan
  const readCpu =
    machines &&
    readCpuOf({
      machines,
      fleet,
      workers: () => brain.view().workers,
      launchOf: (id) => workers.launchOf(id),
      tell,
      log,
    })
  followLeadership(core, workers, fronts)
  return {
    ...{ fleet, workers, functions, firstReady: firstReady.promise },
    perform: performer({
      ...{ jobs, workers, fronts, fleet, functions, storingFor, metrics, frontWorkers },
      ...{ launches, launchTroubles, overload, tell, log, frontToken: plan.tokens.front },
      ...(readCpu && { readCpu }),
    }),
    async close() {
      workers.end()
      await Promise.all([fleet.close(), functions?.close(), door.close(stopping.flushMs())])
    },
  }
}

/** Workers first: the jobs of fronts that go must not be cancelled at workers that go with them. */
function followLeadership(
  { leadership, tell, plan: { options } }: Core,
  workers: JoinedWorkers,
  fronts: Accepting['fronts'],
): void {
  leadership.on({
    began: (epoch) => tell({ type: 'took-over', epoch }),
    ended(message) {
      workers.sendAway(message)
      fronts.sendAway(message)
    },
  })
  options.supervisor?.onMessage((message: ToBrain) => {
    if (message.type !== 'leads') return
    if (message.epoch === undefined) leadership.ends()
    else leadership.begins(message.epoch)
  })
}

function openFleet(
  { plan, records, brain, tell }: Core,
  { door, versions, adminUrl }: ExecuteParts,
  launchedBy: (launch: string) => string | undefined,
): SpareFleet {
  const { options, serving, tokens, machines } = plan
  const local = {
    command: (launch: string) => {
      const { version, mustStart } = versions.startedBy(launch)
      // The worker that a spare one replaces stays unless that has a healthy program.
      const must = mustStart || fleet.isSpare(launch)
      return workerCommand({ ...options, ...version, mustStart: must }, serving.meter, adminUrl())
    },
    ...(options.own?.upstreams && { upstreams: options.own.upstreams }),
    ...(brain.assignsRoles && { queue: () => door.queue() }),
    ...(options.workerGraceMs !== undefined && { graceMs: options.workerGraceMs }),
    token: tokens.worker,
    log: records.log,
  }
  const { supervisor } = options
  const open = (events: ProviderEvents) =>
    machines
      ? machines.open(events, records.log)
      : supervisor
        ? supervisedFleet(supervisor, local, events)
        : localFleet(local, events)
  const fleet = spareFleet(open, {
    launchFailed: (launch, message) => tell({ type: 'launch-failed', launch, message }),
    gone(launch, message) {
      const worker = launchedBy(launch)
      // A worker that joined the brain before may not have joined this one.
      if (worker === undefined) tell({ type: 'launch-failed', launch, message })
      else tell({ type: 'lost', worker, message })
    },
  })
  return fleet
}

function joinedWorkers(
  { plan: { spec, beatMs, following, attemptToken }, records: { log }, ...core }: Core,
  { fronts, tellFronts, delegation }: ExecuteParts,
  { fleet, onReady }: { fleet: SpareFleet; onReady(): void },
): JoinedWorkers {
  const { metrics, problems, launches, leadership, tell } = core
  return new JoinedWorkers({
    welcome: () => ({
      type: 'welcome',
      ...{ epoch: leadership.epoch, beatMs, discipline: spec.discipline, following },
    }),
    beatMs,
    ...{ attemptToken, metrics, tell, problems },
    // The brain decides by its own clock, which does not count its pauses.
    pingMs: 2 * Math.max(spec.limits?.pings?.answerMs ?? 0, spec.limits?.answers?.heartbeatMs ?? 0),
    fleet: {
      joined(launch) {
        launches.works()
        fleet.joined(launch)
      },
      terminate: (launch, graceMs) => fleet.terminate(launch, graceMs),
    },
    onChange(worker) {
      const problem = problems.get(worker)
      if (problem === undefined) onReady()
      else log(`worker ${worker}: ${problem}`)
      fronts.refresh()
    },
    programs: (worker, programs) => delegation().programs(worker, programs),
    tellFronts,
  })
}
