/** A live cluster on this machine. This file connects its parts in the order in which a request passes them. */

import type { Server } from 'node:http'
import { adminServer, joinServer } from '../admin/admin.ts'
import { type AdminListener, plainListener, tlsListener } from '../admin/listener.ts'
import { storyHandler } from '../admin/why.ts'
import { Certificates } from '../front/tls/certificates.ts'
import { makePrivateFolder } from '../lib/private-files.ts'
import { refusalLog } from '../lib/refusal-log.ts'
import type { Action } from '../model/action.ts'
import { incompatibility } from '../wire/admission.ts'
import { type SecureListener, secureListener } from '../wire/secure.ts'
import { removeOldCode } from '../workload/kept-code.ts'
import { type Accepting, acceptRequests } from './accept.ts'
import { newVersion } from './change-version.ts'
import { now } from './clock.ts'
import type { Cluster, ClusterOptions } from './cluster-options.ts'
import { stateReader } from './cluster-state.ts'
import { type Core, clusterCore } from './core.ts'
import { delegate } from './direct/delegate.ts'
import type { Delegation } from './direct/delegation.ts'
import { type Execution, executeJobs } from './execute.ts'
import { takeInventory } from './fleet/inventory.ts'
import type { Door } from './fronts/door.ts'
import { joinHandlers } from './join.ts'
import { InsideKeeper } from './keeper/inside-keeper.ts'
import { keeperSettings } from './keeper/settings.ts'
import { urlOf } from './listen.ts'
import { metricsText } from './metrics-text.ts'
import { openDoor } from './open-door.ts'
import { planCluster } from './plan.ts'
import { nearHost, openPorts, usualAdminHost } from './ports.ts'
import { presetRows } from './preset-rows.ts'
import { openRecords } from './records.ts'
import { restarter } from './rolling-restart.ts'
import { Stopping } from './stopping.ts'
import { openTokens } from './tokens.ts'
import { keepVersion, restoreVersion, type Sources, type Version } from './version.ts'
import { Versions } from './versions.ts'

export type { Cluster, ClusterOptions, ClusterState, FunctionsOptions } from './cluster-options.ts'

/** Rejects with a `ConfigError` that names the option; then nothing is left open. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const stopping = new Stopping()
  await using opening = new AsyncDisposableStack()
  makePrivateFolder(options.dataDir, options.log)
  const tokens = openTokens(options.dataDir, options.tokens)
  const sources = sourcesOf(options)
  const version = await firstVersion(options, sources)
  await removeOldCode(options.dataDir, [version.id])
  const plan = await planCluster({ ...options, ...version }, tokens)
  const versions = new Versions(version, plan.serving.joining)
  const records = await openRecords(plan, opening)
  // Jobs arrive at the brain from fronts; workers and functions execute what it decides.
  const delegating = () => delegation
  const perform = (action: Action) => execution.perform(action)
  const core = clusterCore(plan, records, { stopping, perform, delegation: delegating })
  const workers = () => execution.workers
  const keeper = new InsideKeeper({
    settings: () => keeperSettings(options, tokens, adminUrl()),
    ...{ led: (term?: number) => core.leadership.led(term), log: records.log },
  })
  const accepting = await acceptRequests(core, { workers, delegation: delegating, keeper })
  const { fronts } = accepting
  opening.defer(() => fronts.close())
  const adminUrl = () => urlOf(admin.listener, nearHost(options.adminHost ?? usualAdminHost))
  const door = openDoor(core, { ...accepting, versions, adminUrl })
  const execution = executeJobs(core, { ...accepting, door, versions, adminUrl, delegation: delegating })
  const delegation = delegate(core, accepting, execution.workers)
  opening.defer(() => delegation.close())
  opening.defer(() => execution.workers.close())
  const { admin, join, ...operators } = serveOperators(core, accepting, execution, {
    door,
    versions,
    sources,
    delegation,
  })

  const { tell, driver, jobs } = core
  await openPorts(plan, { admin, join, door, adopt: () => adoptWorkers(core) }, opening)
  opening.defer(() => execution.close())
  const frontsUp = door.start()
  opening.adopt(
    takeInventory({
      ...{ provider: execution.fleet, ...plan.listing, now, tell, log: records.log },
    }),
    (inventory) => inventory.close(),
  )
  opening.defer(() => driver.end())
  opening.defer(() => core.overload.close())
  opening.defer(() => accepting.front?.leave())
  opening.defer(() => keeper.close())
  if (accepting.front) await keeper.serve(accepting.front.server)
  tell({ type: 'tick' })
  const opened = opening.move()
  const announce = () => fronts.broadcast({ type: 'stopping' })
  return {
    url: door.url(),
    adminUrl: options.adminTls ? adminUrl().replace('http:', 'https:') : adminUrl(),
    joinUrl: options.joinAddress && join && urlOf(join.listener, options.joinAddress.host, 'tls'),
    tokens,
    get workloads() {
      return Object.keys(plan.serving.code)
    },
    watched: () => versions.watched(),
    ledger: records.ledger,
    // Without a minimum, the first request brings the first worker.
    ready: stopping.refusal.startedAfter([options.min > 0 && execution.firstReady, frontsUp]),
    ...operators,
    stop: (limitMs) => stopping.stop(limitMs, { jobs, announce, opened }),
  }
}

/** The workers of the brain before are expected to join this one. */
function adoptWorkers({ plan: { options, machines }, tell }: Core): void {
  const left = machines?.left ?? options.supervisor?.workers ?? []
  const launches = left.map(({ launch, joined }) => ({ launch, joined }))
  if (launches.length > 0) tell({ type: 'adopted', launches })
}

/** A brain that is started again continues with the version that its fronts have, whatever the files are now. */
async function firstVersion(
  { supervisor, dataDir, log }: ClusterOptions,
  sources: () => Promise<Sources>,
): Promise<Version> {
  const before = supervisor?.memory?.version
  const restored = before && (await restoreVersion(before))
  if (before && !restored)
    log(`brain: the code of version ${before.id} is gone from ${dataDir}; its files are read again`)
  return restored ?? keepVersion(await sources(), dataDir)
}

/** Without a way to read them again, the same files and the same configuration are served. */
function sourcesOf({ sources, files, own, config }: ClusterOptions): () => Promise<Sources> {
  const same = { files, ...(own && { own }), ...(config !== undefined && { config }) }
  return sources ?? (async () => same)
}

interface OperatorParts {
  door: Door
  versions: Versions
  sources(): Promise<Sources>
  delegation: Delegation
}

/** The admin port, and what operators can do there. */
function serveOperators(
  core: Core,
  { front, fronts, cache }: Accepting,
  execution: Execution,
  { door, versions, sources, delegation }: OperatorParts,
): Pick<Cluster, 'state' | 'restart'> & { admin: AdminListener; join: SecureListener | undefined } {
  const { plan, records, brain, observers, tell } = core
  const { fleet, workers, functions } = execution
  const { spec, tokens, options } = plan
  const state = stateReader(core, { front, fronts, cache, workers, functions, delegation })
  const views = () => brain.view().workers
  const ready = () => views().filter(({ state }) => state === 'ready')
  const drain = (worker: string) => tell({ type: 'drain', worker, by: 'restart' })
  const restart = restarter({
    ...{
      epoch: spec.epoch,
      left: options.supervisor?.workers,
      fleet,
      bootMs: plan.bootMs,
      drain,
      log: records.log,
    },
    // Workers of upstreams run no code, and each upstream has one worker.
    workers: () =>
      (options.own?.upstreams ? [] : ready()).flatMap(({ id }) => {
        const launch = workers.launchOf(id)
        return launch === undefined ? [] : [{ id, launch }]
      }),
    booting: () => brain.view().booting,
    isThere: (worker) => views().some(({ id }) => id === worker),
    rollFronts: () => door.roll(),
    newVersion: () =>
      newVersion({
        ...{ plan, versions, sources, functions, jobs: core.jobs, warm: records.warm, log: records.log },
        forgetAnswers() {
          cache?.clear()
          delegation.renew()
        },
        renewFronts: () => door.renew(),
        drainOthers() {
          for (const { id } of ready().filter((each) => !versions.isCurrent(workers.codeOf(each.id)))) {
            records.log(
              `worker ${id}: drains, because it runs the version before; restart it with the new files`,
            )
            drain(id)
          }
        },
      }),
  })
  const refused = refusalLog('join', records.log)
  const joining = joinHandlers({
    versions: admission(versions, door),
    ...{ workers, fronts, fleet, leadership: core.leadership },
    log: records.log,
  })
  const { adminHost: host = usualAdminHost, adminNames: names = [] } = options
  const doors = { tokens, cache, joining, refused }
  const why = storyHandler(observers.stories, spec.discipline, (workload) => records.errors.of(workload), now)
  const metrics = () => metricsText(state())
  const rows = (preset: string, limit: number) => presetRows(records.ledger, preset, limit)
  const server = adminServer({ ...doors, access: { host, names }, state, metrics, rows, restart, why })
  const admin = adminListener(server, options)
  const tokenOf = (role: string) => (role === 'worker' || role === 'front' ? tokens[role] : undefined)
  const join = options.joinAddress && secureListener(joinServer(doors), { tokenOf, refused })
  return { admin, join, state, restart }
}

/** A brain that is restarted must not fail because new files are broken: its workers and fronts need no TLS. */
function adminListener(server: Server, { adminTls: files, supervisor, log }: ClusterOptions): AdminListener {
  if (!files) return plainListener(server)
  const lenient = supervisor?.memory !== undefined
  const certificates = new Certificates({ files, port: 'admin-tls', lenient, log })
  return tlsListener(server, { certificates, refused: refusalLog('admin', log) })
}

/** Fronts that the cluster started may run any version of its code: they finish their requests with it. */
function admission(versions: Versions, door: Door): Pick<Versions, 'refusal'> {
  return {
    refusal: (hello, who) =>
      who === 'front' && hello.launch !== undefined && door.has(hello.launch)
        ? incompatibility({ ...hello, code: {} }, {}, who)
        : versions.refusal(hello, who),
  }
}
