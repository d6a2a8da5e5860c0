/** A live cluster on this machine: the only file that wires the live rooms together. */

import { mkdirSync } from 'node:fs'
import { adminServer } from '../admin/admin.ts'
import { whyTeller } from '../admin/why.ts'
import type { Question, Quote } from '../estimate/estimator.ts'
import { questioner } from '../estimate/question.ts'
import { checkPrice, quoteDocument } from '../estimate/quote.ts'
import { FleetRates } from '../estimate/rates.ts'
import { cacheOf, repeatedAnswers, repeatsOf } from '../front/cache/repeated-answers.ts'
import { Exchange } from '../front/exchange.ts'
import { frontDefaults, frontServer } from '../front/front.ts'
import type { OpenJob } from '../front/open-job.ts'
import { clientNamer } from '../front/request/client-name.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import { followingOf, quantitiesIn } from '../model/metering.ts'
import { mayWork } from '../model/view.ts'
import { componentLogOf } from '../story/component-log.ts'
import { FleetStory } from '../story/fleet-story.ts'
import { Bill, usualPrices } from '../story/money.ts'
import { explain } from '../story/reasons.ts'
import { Stories } from '../story/stories.ts'
import { type BrainSpec, brainOf } from '../systems/brain-spec.ts'
import { explainEstimate } from '../systems/reasons.ts'
import { newToken } from '../wire/token.ts'
import { nominalRate } from '../worker/rates.ts'
import { driveBrain } from './brain-driver.ts'
import type { Cluster, ClusterOptions, ClusterState } from './cluster-options.ts'
import { eventLogFile } from './event-log-file.ts'
import { learnFrom } from './finished-jobs.ts'
import { takeInventory } from './fleet/inventory.ts'
import { localFleet } from './fleet/local.ts'
import { spareFleet } from './fleet/spares.ts'
import { frontCommand, workerCommand } from './fleet/worker-command.ts'
import { factsMaker } from './fronts/facts.ts'
import { FrontProcesses } from './fronts/front-processes.ts'
import { type FrontState, JoinedFronts } from './fronts/joined-fronts.ts'
import { listenReused, type PortLock } from './fronts/reused-port.ts'
import { functionSettings, localFunctions } from './functions/settings.ts'
import { JoinedWorkers } from './joined-workers.ts'
import { openLearning } from './learning.ts'
import { listen, urlOf } from './listen.ts'
import { type MetricsKeeper, metricsKeeper } from './metrics-keeper.ts'
import { restarter } from './rolling-restart.ts'
import { routePartsOf, servingOf } from './serving.ts'
import { closeFront, idle, stoppingProblem } from './stopping.ts'

export type { Cluster, ClusterOptions, ClusterState, FunctionsOptions } from './cluster-options.ts'

const usualBeatMs = 1_000
/** The provider is asked so often what is there; its list is about processes of this one, so it is never late. */
const listEveryMs = 1_000
const listMs = 3_000
/** A front whose connection broke is given so long to come back. */
const frontGraceMs = 5_000
/** A worker that was to go is given so long to end by itself. */
const endMs = 2_000
/** A front waits for what comes on connections that its clients keep. */
const frontEndMs = 15_000
/** What was answered last is given at least so long to go out. */
const leastFlushMs = 1_000
/** Launches that came to nothing; so many are remembered. */
const mostTroubles = 10

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { own } = options
  const beatMs = options.limits?.beatMs ?? usualBeatMs
  const { workloads, joining, code, meter, units } = await servingOf(options)
  checkPrice(options.pricePerHour)
  const clientOf = clientNamer(options.clientBy ?? 'address')
  const following = followingOf(options, meter)
  mkdirSync(options.dataDir, { recursive: true })
  const { components, log } = componentLogOf(options)
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
  const brain = brainOf(spec, options.scaler)
  const eventLog = eventLogFile(options.eventLog, spec)
  const { ledger, learning, estimator, ignores, storingFor } = await openLearning(options, {
    ...{ nominal, code, units, rates, log },
    functions: functionsAre?.id,
  })

  const exchanges = new Map<string, OpenJob>()
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
  /** Workers that were told to be fronts. */
  const nodeFronts = new Set<string>()
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
  const observers = [stories, fleetStory, bill, ...(components ? [components] : [])]
  const { tell, end } = driveBrain({ brain, eventLog, observers, now, perform })
  const functions = functionsAre && localFunctions(functionsAre, { PLIMSOLL_TOKEN: token }, log)
  const workers = new JoinedWorkers({
    code: joining,
    welcome: { type: 'welcome', epoch: spec.epoch, beatMs, discipline: spec.discipline, following },
    keeper,
    tell,
    log,
    fleet: () => fleet,
    onReady() {
      firstReady.resolve()
      fronts.refresh()
    },
    tellFronts: (message) => fronts.broadcast(message),
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
        void exchange.run({ epoch, job, attempt }, storingFor(functions, exchange.parts.question))
        keeper?.began(exchange)
        return
      }
      case 'go':
      case 'cancel': {
        if (action.worker === functions?.id) return currentExchange(action.worker, action)?.letGo()
        const { type, epoch, job, attempt } = action
        const send = () => workers.send(action.worker, { type, epoch, job, attempt })
        return type === 'go' ? exchanges.get(job)?.commit({ epoch, job, attempt }, send) : send()
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
      case 'assign': {
        const { worker, role, settings } = action
        if (role === 'front') nodeFronts.add(worker)
        return workers.send(worker, { type: 'assign', role, settings })
      }
      case 'deny':
        return workers.send(action.worker, { type: 'deny', message: explain(action.reason) })
      case 'drain':
        if (nodeFronts.has(action.worker)) fronts.send(action.worker, { type: 'leave' })
        return workers.send(action.worker, { type: 'drain' })
      case 'terminate': {
        const { worker, reason } = action
        const wasFront = nodeFronts.delete(worker)
        if (wasFront && reason.code !== 'drained') fronts.gone(worker)
        return workers.dismiss(worker, reason.code !== 'drained' ? 0 : wasFront ? frontEndMs : endMs)
      }
    }
  }

  function over(exchange: OpenJob): void {
    exchanges.delete(exchange.parts.job.id)
    keeper?.over(exchange)
    learnFrom(exchange, { estimator, rates, units, ledger, ignores })
  }

  const limits = { ...frontDefaults, ...options.frontLimits }
  const closed = () => (stopping ? stoppingProblem() : undefined)
  const cache = cacheOf(options)
  const repeats = repeatedAnswers(options, cache, now)
  // Where there may be none, the first request waits for its worker.
  const isReady = () => !stopping && (options.min === 0 || brain.view().workers.some(mayWork))
  const tellQuote = (question: Question, quote: Quote) =>
    quoteDocument(question, quote, {
      view: brain.view(),
      rates: units ?? rates,
      ...(units && { brain: { work: (work) => units.inMicroseconds(question.workload, work), rates } }),
      discipline: spec.discipline,
      jobOf: (id) => exchanges.get(id)?.parts.job,
      pricePerHour: options.pricePerHour,
      explain: explainEstimate,
    })
  const submit = (job: OpenJob) => {
    exchanges.set(job.parts.job.id, job)
    tell({ type: 'arrived', job: job.parts.job })
  }
  const { questionOf, factsOf } = factsMaker({
    estimator,
    code,
    units,
    now,
    isNode: (id) => nodeFronts.has(id),
  })
  const quantities = quantitiesIn(meter)
  const fronts = new JoinedFronts({
    code: joining,
    beatMs,
    graceMs: options.frontGraceMs ?? frontGraceMs,
    welcome: () => ({
      ...{ epoch: spec.epoch, clientBy: options.clientBy ?? 'address', limits, queue: options.queue },
      repeats: repeatsOf(options),
      quantities,
      workers: workers.addresses(),
      ready: isReady(),
    }),
    isReady,
    factsOf,
    quoteOf(asked) {
      const question = questionOf(asked)
      return tellQuote(question, estimator.estimate(question))
    },
    ...{ submit, tell, over, log },
  })
  let accepted = 0
  const front = frontServer({
    workloads,
    repeats,
    ...(own && units && { routes: routePartsOf(own, units, { estimator, limits, closed, log }) }),
    question: questioner({ code, log }),
    ...{ estimator, tellQuote, limits, clientOf, now, log, closed, isReady, quantities },
    submit(parts) {
      accepted++
      submit(new Exchange({ ...parts, token, tell, over }))
    },
  })
  const restart = restarter({
    epoch: spec.epoch,
    fleet: { prepare: (name, limitMs) => fleet.prepare(name, limitMs), drop: () => fleet.drop() },
    bootMs: spec.limits.bootMs ?? bootMs,
    workers: () =>
      brain.view().workers.flatMap(({ id, state }) => (state === 'ready' && workers.isOwn(id) ? [id] : [])),
    isThere: (worker) => brain.view().workers.some(({ id }) => id === worker),
    drain: (worker) => tell({ type: 'drain', worker }),
    rollFronts: () => frontProcesses.roll(),
  })
  const admin = adminServer({
    ...{ token, cache, state },
    why: whyTeller(stories, spec.discipline, now),
    restart,
    doors: {
      worker(connection, hello) {
        // Before it is anyone's: what is drained for a spare worker must be able to count on it.
        const refused = workers.refuse(connection, hello)
        if (refused !== undefined) return fleet.refused(hello.launch, refused)
        const admit = (launch: string, bootMs: number) =>
          workers.hello(connection, { ...hello, launch }, bootMs)
        if (!fleet.park(hello.launch, admit)) workers.hello(connection, hello)
      },
      front: (connection, hello) => fronts.hello(connection, hello),
    },
  })
  let portLock: PortLock | undefined
  try {
    await listen(admin, options.adminPort, '127.0.0.1', '--admin-port')
    if (options.fronts) portLock = await listenReused(front, options.port, options.host, '--port')
    else await listen(front, options.port, options.host, '--port')
  } catch (error) {
    admin.close()
    fronts.close()
    await learning?.close()
    await ledger.close()
    await components?.close()
    throw error
  }
  const adminUrl = urlOf(admin, '127.0.0.1')
  const env = { PLIMSOLL_TOKEN: token }
  const fleet = spareFleet(
    (events) =>
      localFleet(
        {
          command: workerCommand(options, meter, adminUrl),
          ...(own?.upstreams && { upstreams: own.upstreams }),
          ...(brain.assignsRoles && { door: { server: front, host: options.host } }),
          ...{ env, log },
        },
        events,
      ),
    {
      launchFailed: (launch, message) => tell({ type: 'launch-failed', launch, message }),
      gone(launch, message) {
        const worker = workers.launchedBy(launch)
        if (worker !== undefined) tell({ type: 'lost', worker, message })
      },
    },
  )
  const frontProcesses = new FrontProcesses({
    count: options.fronts?.count ?? 0,
    command: frontCommand(options, meter, adminUrl),
    ...{ env, log, server: front, host: options.host },
    gone: (id) => fronts.gone(id),
    leave: (id) => fronts.send(id, { type: 'leave' }),
  })
  const frontsUp = frontProcesses.start()
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
      ...(repeats && { cache: repeats.counters(cache) }),
      fronts: [mainFront(), ...fronts.list()],
    }
  }

  function mainFront(): FrontState {
    const far = fronts.list().reduce((sum, { inHand }) => sum + inHand, 0)
    return { id: 'main', pid: process.pid, state: 'ready', inHand: exchanges.size - far, accepted }
  }

  async function stop(limitMs: number): Promise<void> {
    const until = performance.now() + limitMs
    fronts.broadcast({ type: 'stopping' })
    // The port stays open meanwhile: who comes now is told.
    await idle(exchanges, limitMs)
    for (const exchange of [...exchanges.values()]) exchange.abandon(stoppingProblem())
    end()
    inventory.close()
    workers.end()
    const flushMs = () => Math.max(leastFlushMs, until - performance.now())
    await Promise.all([fleet.close(), functions?.close(), frontProcesses.close(flushMs())])
    workers.close()
    fronts.close()
    admin.close()
    admin.closeAllConnections()
    await closeFront(front, flushMs())
    portLock?.release()
    await learning?.close()
    await ledger.close()
    eventLog.close()
    await components?.close()
  }

  return {
    url: urlOf(front, options.host),
    adminUrl,
    token,
    workloads: Object.keys(code),
    ledger,
    state,
    ready: Promise.all([firstReady.promise, frontsUp]).then(() => {}),
    restart,
    stop(limitMs) {
      stopping ??= stop(limitMs)
      return stopping
    },
  }
}
