/** A live cluster on this machine: the only file that wires the live rooms together. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { adminServer } from './admin.ts'
import { whyTeller } from './admin-why.ts'
import type { BrainLimits } from './brain/core.ts'
import type { OverflowOptions } from './brain/overflow-spec.ts'
import type { RateLimit } from './brain/rate-limit.ts'
import { explain } from './brain/reasons.ts'
import type { ScaleSpec } from './brain/scale/index.ts'
import type { Scaler } from './brain/scale/scaler.ts'
import type { SchedulerName } from './brain/schedule/index.ts'
import type { PlacingSpec } from './brain/schedule/scheduler.ts'
import { type BrainSpec, brainOf } from './brain/spec.ts'
import type { BrainView, WorkerView } from './brain/view.ts'
import { driveBrain } from './brain-driver.ts'
import type { OwnCluster } from './config/check.ts'
import { clusterEstimator } from './estimate/cluster-estimator.ts'
import type { Estimator } from './estimate/estimator.ts'
import { questioner } from './estimate/question.ts'
import { checkPrice, quoteDocument } from './estimate/quote.ts'
import { FleetRates } from './estimate/rates.ts'
import type { Ruled } from './estimate/ruled.ts'
import { eventLogFile } from './event-log-file.ts'
import { learnFrom } from './finished-jobs.ts'
import { takeInventory } from './fleet/inventory.ts'
import { localFleet } from './fleet/local.ts'
import { workerCommand } from './fleet/worker-command.ts'
import { clientNamer } from './front/client-name.ts'
import { Exchange } from './front/exchange.ts'
import { type FrontLimits, frontDefaults, frontServer } from './front/front.ts'
import { JoinedWorkers } from './joined-workers.ts'
import type { Ledger } from './ledger/ledger.ts'
import { openSqliteLedger } from './ledger/sqlite.ts'
import { listen, urlOf } from './listen.ts'
import { type MetricsKeeper, metricsKeeper } from './metrics-keeper.ts'
import type { Action, AttemptToken } from './model.ts'
import { Bill, type Money, type Prices, usualPrices } from './money.ts'
import type { FunctionLimits, Functions } from './overflow/function.ts'
import { functionSettings, localFunctions } from './overflow/settings.ts'
import { routePartsOf, servingOf } from './serving.ts'
import { closeFront, idle, stoppingProblem } from './stopping.ts'
import { FleetStory, type ToldStep } from './story/fleet-story.ts'
import { Stories } from './story/stories.ts'
import { newToken } from './wire/token.ts'
import type { DisciplineName } from './worker/discipline.ts'
import { type Following, followingOf, type MeterSetting } from './worker/metering.ts'
import { nominalRate } from './worker/rates.ts'

export interface ClusterOptions extends Following {
  /** Modules of workloads; none for an own server. */
  files: string[]
  /** The user's own HTTP server in place of workloads, and the file that describes it, for workers. */
  own?: OwnCluster
  config?: string
  /** Where the ledger, and what workloads keep, lie. */
  dataDir: string
  host: string
  /** 0: any free port. */
  port: number
  adminPort: number
  min: number
  max: number
  /** How the number of workers between them is found. Default: it stays as it is. */
  scale?: Omit<ScaleSpec, 'min' | 'max'>
  /** In place of the one that `scale` describes, which the event log then does not tell. */
  scaler?: Scaler
  scheduler: SchedulerName
  /** Constants of the scheduler. Default: its own. */
  placing?: PlacingSpec
  discipline: DisciplineName
  /** Other constants of the brain than its own. */
  limits?: Partial<BrainLimits>
  /** How work is counted. Default: as one number. */
  meter?: MeterSetting
  /** Bound for one job. */
  jobMemoryMb: number
  /** Most jobs that a worker holds. */
  slots: number
  /** Most jobs that wait. */
  queue: number
  /** What tells clients apart: `address`, `key` or `header:NAME`. Default: address. */
  clientBy?: string
  /** What each client may ask for. Default: anything. */
  rateLimit?: RateLimit
  /** True: who has had more than its share of the work goes after the others. */
  fair?: boolean
  /** The command that starts a worker, before its own options. */
  workerCommand: string[]
  token?: string
  eventLog?: string
  estimator?: Estimator
  /** How work is estimated in place of what is learned. */
  ruled?: Ruled
  /** What a worker costs an hour, in whatever money: quotes then name a price. */
  pricePerHour?: number
  /** Further prices, in the same money. */
  prices?: Partial<Omit<Prices, 'workerHour'>>
  /** Functions that take jobs which would wait, where that pays. Default: none. */
  functions?: FunctionsOptions
  /** Workloads that are not metered in functions: what they cost there is not learned from. */
  unmeteredAway?: readonly string[]
  frontLimits?: Partial<FrontLimits>
  log(line: string): void
}

export interface FunctionsOptions extends Partial<FunctionLimits> {
  /** Most jobs that are away at a time; `concurrency`, which turns more away, is as much by default. */
  most: number
  /** What starts one, before its own options. */
  command: string[]
  /** What an hour of a job's waiting is worth. */
  waitingPerHour?: number
  /** One of which nothing is heard for so long, and ten times as long as it should take, is given up. */
  patienceMs?: number
  /** What else the brain is told of them. */
  brain?: Partial<OverflowOptions>
}

export interface Cluster {
  url: string
  adminUrl: string
  token: string
  /** By name; of an own server, its routes. */
  workloads: string[]
  state(): ClusterState
  ledger: Ledger
  /** Resolves when a worker is ready to take jobs. */
  ready: Promise<void>
  /** No new requests; running ones are finished, or after `limitMs` refused; then everything ends. Idempotent. */
  stop(limitMs: number): Promise<void>
}

export interface ClusterState extends BrainView {
  policy: string
  discipline: string
  uptimeMs: number
  launchTroubles: string[]
  /** How the fleet grew and shrank, and why: the last 200 steps. */
  steps: ToldStep[]
  /** What was spent since the start. */
  money: Money
  /** Functions that are there, at work or warm. */
  functions: ReturnType<Functions['list']>
  /** With their processes, on their machines. */
  workers: (WorkerView & { pid: number | undefined })[]
}

const usualBeatMs = 1_000
/** The provider is asked so often what is there; its list is about processes of this one, so it is never late. */
const listEveryMs = 1_000
const listMs = 3_000
/** A worker that was to go is given so long to end by itself. */
const endMs = 2_000
/** What was answered last is given at least so long to go out. */
const leastFlushMs = 1_000
/** Launches that came to nothing; so many are remembered. */
const mostTroubles = 10

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { log, own } = options
  const beatMs = options.limits?.beatMs ?? usualBeatMs
  const { workloads, joining, code, meter, units } = await servingOf(options)
  checkPrice(options.pricePerHour)
  const clientOf = clientNamer(options.clientBy ?? 'address')
  const following = followingOf(options, meter)
  mkdirSync(options.dataDir, { recursive: true })
  const token = options.token ?? newToken()
  const nominal = nominalRate(meter)
  const rates = new FleetRates(nominal * 1000)
  // A worker joins when its programs are well, or had the time to be.
  const bootMs = 30_000 + (own?.workers?.startMs ?? 0)
  const spec: BrainSpec = {
    scheduler: options.scheduler,
    ...(options.placing && { placing: options.placing }),
    discipline: options.discipline,
    scale: { min: options.min, max: options.max, ...options.scale },
    epoch: Math.floor(Date.now() / 1000),
    seed: 1,
    limits: {
      ...{ queue: options.queue, beatMs, bootMs, listMs, backoffMs: 500, backoffMaxMs: 30_000 },
      ...options.limits,
    },
    ...(options.fair && { fair: true }),
    ...(options.rateLimit && { rateLimit: options.rateLimit }),
  }
  const functionsAre = functionSettings(options, meter)
  if (functionsAre) spec.overflow = functionsAre.brain
  const prices = { ...usualPrices, ...options.prices, workerHour: options.pricePerHour ?? 0 }
  const bill = new Bill(prices, functionsAre?.limits.memoryMb)
  const brain = brainOf(spec, undefined, options.scaler)
  const eventLog = eventLogFile(options.eventLog, spec)
  const ledger = await openSqliteLedger({
    file: join(options.dataDir, 'ledger.db'),
    onTrouble: (error) => log(`ledger: ${error.message}`),
  })
  const { ruled, unmeteredAway = [] } = options
  const ignores = (place: string, workload: string) =>
    place === functionsAre?.id && unmeteredAway.includes(workload)
  const learning = options.estimator
    ? undefined
    : clusterEstimator({ workPerCpuMs: nominal, ...(ruled && { ruled }), ignores, ledger, log })
  const estimator = options.estimator ?? learning!
  for (const name of Object.keys(code)) {
    await learning?.warm(name, (row) => {
      if (units) units.learn(row.worker, name, row)
      else rates.learn(row.worker, name, row.work, row.cpuMs)
    })
  }

  const exchanges = new Map<string, Exchange>()
  const currentExchange = (worker: string, { epoch, job, attempt }: AttemptToken) => {
    const exchange = exchanges.get(job)
    const isCurrent = exchange?.worker === worker && exchange.attempts === attempt && epoch === spec.epoch
    return isCurrent ? exchange : undefined
  }
  const keeper: MetricsKeeper | undefined =
    following.metricsEvery === undefined && !following.fromStart
      ? undefined
      : metricsKeeper(ledger, code, currentExchange, following.fromStart)
  const troubles: string[] = []
  const firstReady = Promise.withResolvers<void>()
  const began = performance.now()
  const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000) / 1000
  let stopping: Promise<void> | undefined

  const stories = new Stories({
    known({ id, workload, work }) {
      const exchange = exchanges.get(id)
      const expectedMs = rates.seconds('', workload, work) * 1000
      return exchange && { quote: exchange.parts.quote, expectedMs, cpuMs: exchange.cost?.cpuMs }
    },
  })
  const fleetStory = new FleetStory()
  const { tell, end } = driveBrain({ brain, eventLog, observers: [stories, fleetStory, bill], now, perform })
  const functions = functionsAre && localFunctions(functionsAre, { PLIMSOLL_TOKEN: token }, log)
  const workers = new JoinedWorkers({
    code: joining,
    welcome: { type: 'welcome', epoch: spec.epoch, beatMs, discipline: spec.discipline, following },
    keeper,
    tell,
    log,
    fleet: () => fleet,
    onReady: firstReady.resolve,
  })

  function perform(action: Exclude<Action, { type: 'wake' }>): void {
    switch (action.type) {
      case 'run': {
        const upstream = workers.upstreamOf(action.worker)
        const { epoch, job, attempt, precedence } = action
        const exchange = exchanges.get(job)
        if (!upstream || !exchange) return
        keeper?.over(exchange)
        void exchange.run({ epoch, job, attempt }, upstream, precedence)
        keeper?.began(exchange)
        return
      }
      case 'overflow': {
        const { epoch, job, attempt } = action
        const exchange = exchanges.get(job)
        if (!functions || !exchange) return
        keeper?.over(exchange)
        void exchange.run({ epoch, job, attempt }, storing(functions, exchange))
        keeper?.began(exchange)
        return
      }
      case 'go':
      case 'cancel': {
        if (action.worker === functions?.id) return currentExchange(action.worker, action)?.letGo()
        const { type, epoch, job, attempt } = action
        return workers.send(action.worker, { type, epoch, job, attempt })
      }
      case 'rank': {
        const { type, epoch, job, attempt, precedence } = action
        return workers.send(action.worker, { type, epoch, job, attempt, precedence })
      }
      case 'answer':
        return exchanges.get(action.job)?.settle(action)
      case 'launch':
        return fleet.launch(action.launch)
      case 'abandon':
        troubles.push(`${action.launch}: ${explain(action.reason)}`)
        if (troubles.length > mostTroubles) troubles.shift()
        log(`fleet: launch ${action.launch} is given up: ${explain(action.reason)}`)
        return fleet.terminate(action.launch)
      case 'drain':
        return workers.send(action.worker, { type: 'drain' })
      case 'terminate':
        return workers.dismiss(action.worker, action.reason.code === 'drained' ? endMs : 0)
    }
  }

  /** Functions store what they have measured before they answer, where that is the rule. */
  function storing(functions: Functions, { parts: { question, job } }: Exchange): Functions {
    if (!learning || ignores(functions.id, job.workload)) return functions
    return {
      ...{ id: functions.id, list: () => functions.list(), close: () => functions.close() },
      async invoke(signal, use) {
        const end = await functions.invoke(signal, use)
        if (end?.outcome === 'result' && end.cost) await learning.store(question, end.cost)
        return end
      },
    }
  }

  function over(exchange: Exchange): void {
    exchanges.delete(exchange.parts.job.id)
    keeper?.over(exchange)
    learnFrom(exchange, { estimator, rates, units, ledger, ignores })
  }

  const admin = adminServer({
    token,
    state,
    why: whyTeller(stories, spec.discipline, now),
    onConnection: (connection) => workers.accept(connection),
  })
  const limits = { ...frontDefaults, ...options.frontLimits }
  const closed = () => (stopping ? stoppingProblem() : undefined)
  const front = frontServer({
    workloads,
    ...(own && units && { routes: routePartsOf(own, units, { estimator, limits, closed, log }) }),
    question: questioner({ code, log }),
    estimator,
    tellQuote: (question, quote) =>
      quoteDocument(question, quote, {
        view: brain.view(),
        rates: units ?? rates,
        ...(units && { brain: { work: (work) => units.inMicroseconds(question.workload, work), rates } }),
        discipline: spec.discipline,
        jobOf: (id) => exchanges.get(id)?.parts.job,
        pricePerHour: options.pricePerHour,
      }),
    limits,
    clientOf,
    now,
    log,
    closed,
    // Where there may be none, the first request waits for its worker.
    isReady: () => !stopping && (options.min === 0 || brain.view().ready > 0),
    submit(parts) {
      const exchange = new Exchange({ ...parts, token, tell, over })
      exchanges.set(parts.job.id, exchange)
      tell({ type: 'arrived', job: parts.job })
    },
  })
  try {
    await listen(admin, options.adminPort, '127.0.0.1', '--admin-port')
    await listen(front, options.port, options.host, '--port')
  } catch (error) {
    admin.close()
    await learning?.close()
    await ledger.close()
    throw error
  }
  const adminUrl = urlOf(admin, '127.0.0.1')
  const fleet = localFleet(
    {
      command: workerCommand(options, meter, adminUrl),
      ...(own?.upstreams && { upstreams: own.upstreams }),
      env: { PLIMSOLL_TOKEN: token },
      log,
    },
    {
      launchFailed: (launch, message) => tell({ type: 'launch-failed', launch, message }),
      gone(launch, message) {
        const worker = workers.launchedBy(launch)
        if (worker !== undefined) tell({ type: 'lost', worker, message })
      },
    },
  )
  const inventory = takeInventory({ provider: fleet, everyMs: listEveryMs, limitMs: listMs, now, tell, log })
  tell({ type: 'tick' })

  function state(): ClusterState {
    const view = brain.view()
    return {
      ...view,
      workers: view.workers.map((worker) => ({ ...worker, pid: workers.pidOf(worker.id) })),
      policy: spec.scheduler,
      discipline: spec.discipline,
      uptimeMs: performance.now() - began,
      launchTroubles: troubles,
      steps: fleetStory.steps(),
      money: bill.at(now()),
      functions: functions?.list() ?? [],
    }
  }

  async function stop(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs
    // The port stays open meanwhile: who comes now is told.
    await idle(exchanges, limitMs)
    for (const exchange of [...exchanges.values()]) exchange.abandon(stoppingProblem())
    end()
    inventory.close()
    workers.end()
    await Promise.all([fleet.close(), functions?.close()])
    workers.close()
    admin.close()
    admin.closeAllConnections()
    await closeFront(front, Math.max(leastFlushMs, until - performance.now()))
    await learning?.close()
    await ledger.close()
    eventLog.close()
  }

  return {
    url: urlOf(front, options.host),
    adminUrl,
    token,
    workloads: Object.keys(code),
    ledger,
    state,
    ready: firstReady.promise,
    stop(limitMs) {
      stopping ??= stop(limitMs)
      return stopping
    },
  }
}
