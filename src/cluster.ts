/** A live cluster on this machine: the only file that wires the live rooms together. */

import { mkdirSync } from 'node:fs'
import type { Server } from 'node:http'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { adminServer } from './admin.ts'
import type { SchedulerName } from './brain/schedule/index.ts'
import { type BrainSpec, brainOf } from './brain/spec.ts'
import type { BrainView, WorkerView } from './brain/view.ts'
import type { Estimator } from './estimate/estimator.ts'
import { meanEstimator } from './estimate/mean.ts'
import { eventLogFile } from './event-log-file.ts'
import { localFleet } from './fleet/local.ts'
import { Exchange, type Upstream } from './front/exchange.ts'
import { type FrontLimits, frontDefaults, frontServer } from './front/front.ts'
import { RequestProblem } from './front/problem.ts'
import type { Ledger } from './ledger/ledger.ts'
import { openSqliteLedger } from './ledger/sqlite.ts'
import { listen, urlOf } from './listen.ts'
import { defaultMeter } from './meter/hooks.ts'
import { type MetricsKeeper, metricsKeeper } from './metrics-keeper.ts'
import type { Action, AttemptToken, Event } from './model.ts'
import type { Connection } from './wire/accept.ts'
import { whyNot } from './wire/admission.ts'
import type { FromWorker } from './wire/messages.ts'
import { newToken } from './wire/token.ts'
import { readCode } from './worker/code.ts'
import type { DisciplineName } from './worker/discipline.ts'
import { checkMeter, type Following, followingOf, type MeterSetting, meterFlags } from './worker/metering.ts'
import { nominalRate } from './worker/rates.ts'
import { loadWorkloads } from './workload.ts'

export interface ClusterOptions extends Following {
  /** Modules of workloads. */
  files: string[]
  /** Where the ledger, and what workloads keep, lie. */
  dataDir: string
  host: string
  /** 0: any free port. */
  port: number
  adminPort: number
  min: number
  max: number
  scheduler: SchedulerName
  discipline: DisciplineName
  /** How work is counted. Default: as one number. */
  meter?: MeterSetting
  /** Bound for one job. */
  jobMemoryMb: number
  /** Most jobs that a worker holds. */
  slots: number
  /** Most jobs that wait. */
  queue: number
  /** The command that starts a worker, before its own options. */
  workerCommand: string[]
  token?: string
  eventLog?: string
  estimator?: Estimator
  frontLimits?: Partial<FrontLimits>
  log(line: string): void
}

export interface Cluster {
  url: string
  adminUrl: string
  token: string
  /** By name. */
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
  /** With their processes, on their machines. */
  workers: (WorkerView & { pid: number | undefined })[]
}

interface Joined {
  upstream: Upstream & { dispatcher: Pool }
  launch: string | undefined
  pid: number
  connection: Connection | undefined
}

const beatMs = 1_000
/** What was answered last is given at least so long to go out. */
const leastFlushMs = 1_000
/** A longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { log, meter = defaultMeter } = options
  checkMeter(meter)
  const following = followingOf(options, meter)
  mkdirSync(options.dataDir, { recursive: true })
  const workloads = new Map((await loadWorkloads(options.files)).map((workload) => [workload.name, workload]))
  const { hashes: code } = await readCode(options.files, meter)
  const token = options.token ?? newToken()
  const estimator = options.estimator ?? meanEstimator(nominalRate(meter))
  const spec: BrainSpec = {
    scheduler: options.scheduler,
    discipline: options.discipline,
    scale: { min: options.min, max: options.max },
    epoch: Math.floor(Date.now() / 1000),
    seed: 1,
    limits: { queue: options.queue, beatMs, bootMs: 30_000, backoffMs: 500, backoffMaxMs: 30_000 },
  }
  const brain = brainOf(spec)
  const eventLog = eventLogFile(options.eventLog, spec)
  const ledger = await openSqliteLedger({
    file: join(options.dataDir, 'ledger.db'),
    onTrouble: (error) => log(`ledger: ${error.message}`),
  })

  const exchanges = new Map<string, Exchange>()
  const currentExchange = (worker: string, { epoch, job, attempt }: AttemptToken) => {
    const exchange = exchanges.get(job)
    const isCurrent = exchange?.worker === worker && exchange.attempts === attempt && epoch === spec.epoch
    return isCurrent ? exchange : undefined
  }
  const keeper: MetricsKeeper | undefined =
    following.metricsEvery === undefined ? undefined : metricsKeeper(ledger, code, currentExchange)
  const joined = new Map<string, Joined>()
  const byLaunch = new Map<string, string>()
  const troubles: string[] = []
  const firstReady = Promise.withResolvers<void>()
  const began = performance.now()
  const now = () => Math.round((performance.timeOrigin + performance.now()) * 1000) / 1000
  let wake: NodeJS.Timeout | undefined
  let stopping: Promise<void> | undefined

  const inbox: Event[] = []
  let busy = false
  let ended = false
  /** Hands the brain an event. What its actions lead to at once waits for its turn. */
  function tell(event: Event): void {
    if (ended) return
    inbox.push(event)
    if (busy) return
    busy = true
    try {
      for (let next = inbox.shift(); next; next = inbox.shift()) {
        const time = now()
        const actions = brain.handle(next, time)
        eventLog.entry(time, next, actions)
        for (const action of actions) perform(action)
      }
    } finally {
      busy = false
    }
  }

  function perform(action: Action): void {
    switch (action.type) {
      case 'run': {
        const worker = joined.get(action.worker)
        const { epoch, job, attempt } = action
        const exchange = exchanges.get(job)
        if (!worker || !exchange) return
        keeper?.over(exchange)
        void exchange.run({ epoch, job, attempt }, worker.upstream)
        return
      }
      case 'go':
      case 'cancel': {
        const { type, epoch, job, attempt } = action
        joined.get(action.worker)?.connection?.send({ type, epoch, job, attempt })
        return
      }
      case 'answer':
        return exchanges.get(action.job)?.settle(action)
      case 'launch':
        return fleet.launch(action.launch)
      case 'abandon':
        troubles.push(`${action.launch}: ${action.reason.code} ${action.reason.message ?? ''}`.trim())
        if (troubles.length > 10) troubles.shift()
        log(`fleet: launch ${action.launch} came to nothing: ${action.reason.message ?? action.reason.code}`)
        return fleet.terminate(action.launch)
      case 'drain':
        return joined.get(action.worker)?.connection?.send({ type: 'drain' })
      case 'terminate':
        return dismiss(action.worker)
      case 'wake':
        clearTimeout(wake)
        // Timers may fire a little early; the brain then asks again.
        wake = setTimeout(
          () => tell({ type: 'tick' }),
          Math.min(longestTimerMs, Math.max(0, Math.ceil(action.at - now()))),
        )
        return
    }
  }

  function dismiss(id: string): void {
    const worker = joined.get(id)
    if (!worker) return
    joined.delete(id)
    keeper?.workerGone(id)
    worker.connection?.send({ type: 'end' })
    worker.connection?.close()
    worker.upstream.dispatcher.destroy().catch(() => {})
    if (worker.launch !== undefined) {
      byLaunch.delete(worker.launch)
      fleet.terminate(worker.launch)
    }
  }

  function over(exchange: Exchange): void {
    const { job, params } = exchange.parts
    exchanges.delete(job.id)
    keeper?.over(exchange)
    const { cost } = exchange
    if (!cost) return
    const question = {
      workload: job.workload,
      params,
      bodyBytes: exchange.parts.sendBody ? exchange.parts.body.bytes : 0,
    }
    if (exchange.outcome === 'result') estimator.learn(question, cost)
    ledger.record({
      job: job.id,
      workload: job.workload,
      codeHash: code[job.workload] ?? '',
      parameters: JSON.stringify(params),
      ...cost,
      worker: exchange.worker,
      attempts: exchange.attempts,
      startedAt: exchange.startedAt,
      endedAt: Date.now(),
      outcome: exchange.outcome,
    })
  }

  function hello(connection: Connection, message: Extract<FromWorker, { type: 'hello' }>): void {
    const { id } = message.worker
    const refused = whyNot(message, code)
    if (refused) {
      log(`worker ${id}: refused: ${refused}`)
      connection.send({ type: 'refused', message: refused })
      connection.close()
      return
    }
    const { host, port } = message.address
    const known = joined.get(id)
    if (known) known.connection = connection
    else {
      // Long jobs keep a connection silent for as long as they run: no time-outs but our own.
      const dispatcher = new Pool(`http://${host}:${port}`, { headersTimeout: 0, bodyTimeout: 0 })
      const { launch, pid } = message
      joined.set(id, { upstream: { id, dispatcher }, launch, pid, connection })
    }
    if (message.launch !== undefined) {
      byLaunch.set(message.launch, id)
      fleet.joined(message.launch)
    }
    connection.onMessage = (next) => heard(id, next)
    connection.onClose = () => {
      const worker = joined.get(id)
      if (worker?.connection === connection) worker.connection = undefined
    }
    const { epoch, discipline } = spec
    connection.send({ type: 'welcome', epoch, beatMs, discipline, following })
    const { launch, seq, held, worker } = message
    tell({ type: 'joined', worker, ...(launch !== undefined && { launch }), seq, held })
    firstReady.resolve()
  }

  function heard(worker: string, message: FromWorker): void {
    if (message.type === 'report') tell({ type: 'reported', worker, seq: message.seq, held: message.held })
    else if (message.type === 'progress') tell({ ...message, type: 'progressed', worker })
    else if (message.type === 'metrics') keeper?.counted(worker, message)
    else if (message.type === 'ready') tell({ ...message, worker })
  }

  const admin = adminServer({
    token,
    state,
    onConnection(connection) {
      connection.onMessage = (message) => {
        if (message.type === 'hello') hello(connection, message)
        else connection.close()
      }
    },
  })
  const front = frontServer({
    workloads,
    estimator,
    limits: { ...frontDefaults, ...options.frontLimits },
    now,
    log,
    closed: () => (stopping ? stoppingProblem() : undefined),
    isReady: () => !stopping && brain.view().ready > 0,
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
    await ledger.close()
    throw error
  }
  const adminUrl = urlOf(admin, '127.0.0.1')
  const memoryMb = Math.floor((totalmem() / 1024 / 1024 / Math.max(1, options.max)) * 0.8)
  const fleet = localFleet(
    {
      command: [
        ...options.workerCommand,
        ...['--join', adminUrl, '--workloads', options.files.join(','), '--data', options.dataDir],
        ...[
          '--slots',
          `${options.slots}`,
          '--memory',
          `${memoryMb}`,
          '--job-memory',
          `${options.jobMemoryMb}`,
        ],
        ...meterFlags(meter),
      ],
      env: { PLIMSOLL_TOKEN: token },
      log,
    },
    {
      launchFailed: (launch, message) => tell({ type: 'launch-failed', launch, message }),
      gone(launch, message) {
        const worker = byLaunch.get(launch)
        if (worker !== undefined) tell({ type: 'lost', worker, message })
      },
    },
  )
  tell({ type: 'tick' })

  function state(): ClusterState {
    const view = brain.view()
    return {
      ...view,
      workers: view.workers.map((worker) => ({ ...worker, pid: joined.get(worker.id)?.pid })),
      policy: spec.scheduler,
      discipline: spec.discipline,
      uptimeMs: performance.now() - began,
      launchTroubles: troubles,
    }
  }

  async function stop(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs
    // The port stays open meanwhile: who comes now is told.
    await idle(exchanges, limitMs)
    for (const exchange of [...exchanges.values()]) exchange.abandon(stoppingProblem())
    // What happens from here on is of no interest to anybody.
    ended = true
    clearTimeout(wake)
    await fleet.close()
    for (const { upstream } of joined.values()) upstream.dispatcher.destroy().catch(() => {})
    admin.close()
    admin.closeAllConnections()
    await closeFront(front, Math.max(leastFlushMs, until - performance.now()))
    await ledger.close()
    eventLog.close()
  }

  return {
    url: urlOf(front, options.host),
    adminUrl,
    token,
    workloads: [...workloads.keys()],
    ledger,
    state,
    ready: firstReady.promise,
    stop(limitMs) {
      stopping ??= stop(limitMs)
      return stopping
    },
  }
}

function stoppingProblem(): RequestProblem {
  return new RequestProblem(503, 'stopping', 'The cluster is stopping.', {
    headers: { 'retry-after': '5', connection: 'close' },
  })
}

/** Resolves when the map is empty, or after the limit. */
async function idle(map: ReadonlyMap<string, unknown>, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs
  while (map.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Closes connections as they fall idle, and after the limit whatever they do. */
async function closeFront(front: Server, limitMs: number): Promise<void> {
  const closed = Promise.withResolvers<void>()
  front.close(() => closed.resolve())
  const sweep = setInterval(() => front.closeIdleConnections(), 10)
  const limit = setTimeout(() => front.closeAllConnections(), limitMs)
  await closed.promise
  clearInterval(sweep)
  clearTimeout(limit)
}
