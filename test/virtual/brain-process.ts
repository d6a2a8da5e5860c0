/** A virtual brain process: the real brain, its driver, its registries of workers and fronts, and its actions. */

import { EstimateErrors } from '../../src/estimate/errors.ts'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { Overheads } from '../../src/estimate/overheads.ts'
import { FleetRates } from '../../src/estimate/rates.ts'
import { frontDefaults } from '../../src/front/front.ts'
import type { ResourceReader } from '../../src/front/overload/readings.ts'
import { stream } from '../../src/lib/random.ts'
import { type Core, clusterCore } from '../../src/live/core.ts'
import { eventLogFile } from '../../src/live/event-log-file.ts'
import { takeInventory } from '../../src/live/fleet/inventory.ts'
import { arrivals } from '../../src/live/fronts/arrivals.ts'
import type { Door } from '../../src/live/fronts/door.ts'
import { JoinedFronts } from '../../src/live/fronts/joined-fronts.ts'
import { joinHandlers } from '../../src/live/join.ts'
import { JoinedWorkers } from '../../src/live/joined-workers.ts'
import { performer } from '../../src/live/perform.ts'
import type { ClusterPlan } from '../../src/live/plan.ts'
import type { Records } from '../../src/live/records.ts'
import { Stopping } from '../../src/live/stopping.ts'
import { supervisedDoor } from '../../src/live/supervise/supervised-door.ts'
import { supervisedFleet } from '../../src/live/supervise/supervised-fleet.ts'
import type { SupervisorLink } from '../../src/live/supervise/supervisor-link.ts'
import type { Action } from '../../src/model/action.ts'
import type { AttemptToken } from '../../src/model/attempt.ts'
import { usualPrices } from '../../src/model/prices.ts'
import { isLoss } from '../../src/story/fleet-story.ts'
import type { BrainSpec } from '../../src/systems/brain-spec.ts'
import { onHello } from '../../src/wire/accept.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import type { VirtualDisk } from './disk.ts'
import type { VirtualLedger } from './ledger.ts'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess } from './time.ts'

export interface BrainProcessParts {
  process: VirtualProcess
  network: VirtualNetwork
  address: string
  spec: BrainSpec
  disk: VirtualDisk
  ledger: Pick<VirtualLedger, 'record'>
  graceMs: number
  /** Number of fronts. */
  fronts: number
  link: SupervisorLink
  now(): number
  /** The brain declares a worker lost. */
  lost(worker: string, why: string): void
  /** The brain lets a process with this port join as this worker. */
  joined(worker: string, port: number): void
  /** The brain sends an attempt to a worker. */
  ordered(token: AttemptToken, worker: string): void
  /** The attempt of an earlier brain goes on. */
  adopted(): void
  /** Something happened that must not. */
  failed(why: string): void
  /** The door cannot be opened. */
  exit(): void
  /** A roll has ended. */
  rolled(failed: boolean): void
}

/** A client that reads less than the minimum rate over this time is disconnected. */
export const stallMs = 10_000
/** Time allowed for the requests of a front that was replaced. */
const drainMs = 12 * 3600 * 1000
/** Authorizes attempts at workers. */
export const attemptToken = 'attempts'

const plainWelcome = {
  clientBy: 'address',
  limits: { ...frontDefaults, stallMs },
  queue: 1000,
  repeats: {},
  attemptToken,
  quantities: [],
  ready: true,
}

export class BrainProcess {
  readonly #core: Core
  readonly #fronts: JoinedFronts
  readonly #workers: JoinedWorkers
  readonly #door: Door
  readonly #link: SupervisorLink
  readonly #rolled: (failed: boolean) => void
  /** Of the code that fronts have. */
  #version: number
  #rolling = false

  constructor(parts: BrainProcessParts) {
    const { process, network, address, spec, graceMs, now } = parts
    const log = () => {}
    const core = clusterCore(planOf(spec), recordsOf(estimator, parts), {
      stopping: new Stopping(),
      perform(action) {
        report(action, parts)
        perform(action)
      },
      delegation: () => ({ observe() {}, ended() {} }),
    })
    const beatMs = spec.limits.beatMs!
    const { tell, jobs, frontWorkers, launches, launchTroubles } = core
    const isWorker = () => false
    const { jobOf } = arrivals({ ...{ estimator, now, isWorker }, serving: { code: { job: '' } } })
    const fronts = new JoinedFronts({
      ...{ beatMs, graceMs, jobOf, tell, log, isReady: () => true },
      welcome: () => ({
        ...{ ...plainWelcome, epoch: spec.epoch, workers: workers.addresses() },
      }),
      quoteOf: () => undefined,
      wantKeeper() {},
      submit: core.submit,
      ended: (job) => core.ended(job),
      delegation: () => ({ report() {}, standing() {} }),
    })
    const gone = (launch: string, message: string) => this.#gone(launch, message)
    const fleet = supervisedFleet(
      parts.link,
      { command: () => ['worker'], token: '', log },
      { launchFailed: gone, gone },
    )
    const workers = new JoinedWorkers({
      welcome: () => ({
        ...{ type: 'welcome', epoch: spec.epoch, beatMs, following: {} },
        discipline: spec.discipline,
      }),
      beatMs,
      ...{ attemptToken, pingMs: 0, metrics: undefined, fleet, tell, problems: core.problems },
      onChange() {},
      programs() {},
      tellFronts: (message) => fronts.broadcast(message),
    })
    const perform = performer({
      ...{ jobs, workers, fronts, fleet, functions: undefined, metrics: undefined },
      ...{ frontWorkers, launchTroubles, launches, log, tell, overload: core.overload },
      ...{ storingFor: (same) => same, frontToken: '' },
    })
    const handlers = joinHandlers({
      versions: { refusal: () => undefined },
      ...{ fronts, log },
      workers: observed(workers, parts),
      fleet: { isSpare: () => false, hold() {}, refuse() {} },
      leadership: core.leadership,
    })
    this.#core = core
    this.#fronts = fronts
    this.#workers = workers
    this.#link = parts.link
    this.#rolled = parts.rolled
    this.#version = Number(parts.link.memory?.version.id ?? 1)
    this.#door = this.#openDoor(parts)
    const left = parts.link.workers.map(({ launch, joined }) => ({ launch, joined }))
    tell({ type: 'adopted', launches: left })
    network.listen(address, process, (socket) => onHello(socket, handlers))
    takeInventory({ provider: fleet, everyMs: 1_000, limitMs: 3_000, now, tell, log })
    tell({ type: 'tick' })
  }

  get jobs(): number {
    return this.#core.jobs.size
  }

  /** What fronts are to be started with. */
  get settings(): string {
    return `v${this.#version}`
  }

  /** Replaces all fronts by ones with new code, as `plimsoll restart` does. */
  async roll(): Promise<void> {
    if (this.#rolling) return
    this.#rolling = true
    this.#version++
    this.#door.renew()
    let failed = false
    try {
      for await (const _ of this.#door.roll());
    } catch {
      failed = true
    }
    this.#rolling = false
    this.#rolled(failed)
  }

  #openDoor({ fronts, exit }: BrainProcessParts): Door {
    const door = supervisedDoor({
      link: this.#link,
      protocol: 'http',
      request: () => ({
        ...{ port: 80, host: 'virtual', count: fronts, drainMs },
        settings: { args: [this.settings], token: '' },
        memory: { brains: 1, adminPort: 1, version: { id: `${this.#version}` } as never },
      }),
      gone: (front) => this.#fronts.gone(front),
    })
    const opened = door.open(new AsyncDisposableStack()).then(() => door.start())
    opened.then(() => this.#link.send({ type: 'serving' }), exit)
    return door
  }

  /** The worker of this launch has ended. */
  #gone(launch: string, message: string): void {
    const worker = this.#workers.launchedBy(launch)
    if (worker === undefined) this.#core.tell({ type: 'launch-failed', launch, message })
    else this.#core.tell({ type: 'lost', worker, message })
  }
}

function report(action: Action, { lost, ordered, adopted }: BrainProcessParts): void {
  if (action.type === 'adopt') adopted()
  if (action.type === 'run') ordered(action, action.worker)
  if (action.type === 'terminate' && isLoss(action.reason)) lost(action.worker, action.reason.code)
}

/** Reports each worker before it is added. */
function observed(
  workers: JoinedWorkers,
  { joined }: Pick<BrainProcessParts, 'joined'>,
): Pick<JoinedWorkers, 'known' | 'add'> {
  return {
    known: (id) => workers.known(id),
    add(connection, hello) {
      joined(hello.worker.id, hello.address.port)
      workers.add(connection, hello)
    },
  }
}

const nominal = nominalRate('off')
const estimator = {
  estimate: () => ({ work: 100 * nominal, low: 10 * nominal, high: 1000 * nominal, memoryMb: 10 }),
  learn() {},
} as unknown as Estimator

/** Only what `clusterCore` reads. */
function planOf(spec: BrainSpec): ClusterPlan {
  return {
    options: { min: spec.scale.min, queue: 1000, overload: readerOf(spec) },
    limits: {},
    ...{ spec, following: {}, prices: usualPrices, functions: undefined, nominal },
    serving: { code: { job: '' }, units: undefined },
  } as unknown as ClusterPlan
}

/** In a quarter of the seeds the brain's process is short of memory now and then. */
function readerOf({ seed, epoch }: BrainSpec): ResourceReader {
  const random = stream(seed, `memory of brain ${epoch}`)
  const isShort = seed % 4 === 0
  return { read: () => (isShort ? { memory: 0.75 + 0.19 * random.next() } : {}), close() {} }
}

/** Records on a virtual disk. */
function recordsOf(
  estimator: Estimator,
  { process, disk, ledger, spec, failed }: BrainProcessParts,
): Records {
  return {
    ...{ estimator, components: undefined, ignores: () => false, storingFor: (same: unknown) => same },
    log(line: string) {
      if (line.startsWith('internal error')) failed(line)
    },
    ledger,
    errors: new EstimateErrors(),
    eventLog: eventLogFile({
      ...{ file: '/dev/null', spec, log() {} },
      write(_descriptor, bytes) {
        disk.write(process)
        return bytes.length
      },
    }),
    rates: new FleetRates(nominal * 1000),
    overheads: new Overheads(nominal),
  } as unknown as Records
}
