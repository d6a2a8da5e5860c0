/** A front process: it serves clients as the one inside the main process does, and the brain is at the other end of one connection. */

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { OwnCluster } from '../../config/check.ts'
import type { Estimator, Question, Quote } from '../../estimate/estimator.ts'
import { repeatedAnswers } from '../../front/cache/repeated-answers.ts'
import { type SharedCache, sharedCache } from '../../front/cache/shared-cache.ts'
import { frontServer } from '../../front/front.ts'
import { clientNamer } from '../../front/request/client-name.ts'
import type { WireError } from '../../lib/errors.ts'
import type { FrontWelcome, ToFront } from '../../wire/front-messages.ts'
import { listen, urlOf } from '../listen.ts'
import { type ServingOptions, serviceOf, servingOf } from '../serving.ts'
import { stoppingProblem } from '../stopping.ts'
import { BrainLink } from './brain-link.ts'
import { askedOf, FarQuotes } from './far-quotes.ts'
import { KnownWorkers } from './known-workers.ts'
import { leaveClients } from './leaving.ts'
import { noBrain, RequestsInHand } from './requests-in-hand.ts'

export interface FrontOptions extends ServingOptions {
  id: string
  join: URL
  token: string
  launch?: string
  own?: OwnCluster
  host: string
  /** 0: any free port. */
  port: number
  /** Set: the port is that of the cluster, which started this process and hands it over. It ends with the cluster. */
  share?: (server: Server) => Promise<void>
  /** How long a request is held while the brain is away. */
  holdMs: number
  /** When it is to end: how long what it has may take. */
  leaveMs: number
  /** Called for each request of a client. */
  arrived?(): void
  /** It takes requests. */
  listening?(): void
  log(line: string): void
}

/** What it would cost is said at the other end. */
const unknownCost: Quote = {
  work: 0,
  low: 0,
  high: 0,
  memoryMb: 0,
  source: 'prior',
  reason: { code: 'elsewhere' },
}
const noEstimator: Estimator = { estimate: () => unknownCost, learn() {} }

/** Runs until it is told to leave, by the brain or the signal, and has answered what it had. Rejects with what went wrong. */
export async function runFront(options: FrontOptions, signal: AbortSignal): Promise<void> {
  const { id, join, token, launch, own, log, share } = options
  const serving = await servingOf(options)
  const now = () => performance.timeOrigin + performance.now()
  const over = Promise.withResolvers<void>()
  over.promise.catch(() => {})
  const welcomed = Promise.withResolvers<FrontWelcome>()
  let clientOf = clientNamer('address')
  let ready = false
  let stopping = false
  let server: Server | undefined
  let cache: SharedCache | undefined

  const workers = new KnownWorkers()
  const inHand = new RequestsInHand({ token, workers, holdMs: options.holdMs, now, link: () => link })
  const quotes = new FarQuotes({ holdMs: options.holdMs, link: () => link })
  const link = new BrainLink({
    join,
    token,
    hello: {
      ...{ id, pid: process.pid, instance: randomUUID(), code: { ...serving.joining } },
      ...(launch !== undefined && { launch }),
    },
    onWelcome(welcome) {
      clientOf = clientNamer(welcome.clientBy)
      ready = welcome.ready
      if (!welcome.resumed) workers.replace(welcome.workers)
      if (!welcome.resumed && server?.listening) tellListening()
      inHand.welcomed(welcome)
      if (!welcome.resumed) quotes.askAgain()
      welcomed.resolve(welcome)
    },
    onMessage: heard,
    onLost() {
      log('front: the brain cannot be reached; requests are held')
      ready = false
      inHand.lost()
    },
    onRefused: (error: WireError) => over.reject(error),
  })

  function heard(message: ToFront): void {
    switch (message.type) {
      case 'worker':
        return workers.add(message.id, message.address)
      case 'worker-gone':
        return workers.remove(message.id)
      case 'ready':
        ready = message.ready
        return
      case 'quote':
        return quotes.heard(message)
      case 'stopping':
        if (share) stopping = true
        else inHand.holding = true
        return
      case 'leave':
        return over.resolve()
      default:
        return inHand.heard(message)
    }
  }

  function tellListening(): void {
    link.send({ type: 'listening', ...(!share && { url: urlOf(server!, options.host) }) })
  }

  const leave = () => over.resolve()
  signal.addEventListener('abort', leave, { once: true })
  try {
    if (signal.aborted) return
    await link.open()
    const welcome = await Promise.race([welcomed.promise, over.promise])
    if (!welcome) return
    const { limits, repeats, quantities } = welcome
    const { cacheBytes: mostBytes = 0 } = repeats
    if (mostBytes > 0) cache = sharedCache({ join, token, mostBytes, isUp: () => link.isUp })
    const closed = () => (stopping ? stoppingProblem() : inHand.closed)
    server = frontServer({
      service: serviceOf(serving, own, { limits, quantities, log }),
      repeats: repeatedAnswers(repeats, cache, now),
      estimator: noEstimator,
      tellQuote: (question: Question) => quotes.ask(askedOf(question)),
      limits,
      clientOf: (request) => clientOf(request),
      now,
      log,
      closed,
      isReady: () => ready && !stopping,
      submit: (parts) => inHand.submit(parts),
    })
    const { arrived } = options
    if (arrived) server.on('request', ({ url }) => url?.startsWith('/-/') || arrived())
    if (share) await share(server)
    else await listen(server, options.port, options.host, '--port')
    tellListening()
    options.listening?.()
    if (!share) log(`front ${id}: requests at ${urlOf(server, options.host)}`)
    const trouble = await over.promise.then(
      () => undefined,
      (error: WireError) => error,
    )
    const leaveMs = trouble ? 0 : options.leaveMs
    const problem = trouble ? noBrain() : stoppingProblem()
    await leaveClients(server, inHand, { leaveMs, hurry: stopping || trouble !== undefined, problem })
    if (trouble) throw trouble
    link.send({ type: 'left' })
  } finally {
    inHand.close()
    cache?.close()
    link.close()
    workers.replace([])
    if (server?.listening) NetServer.prototype.close.call(server)
    server?.closeAllConnections()
  }
}
