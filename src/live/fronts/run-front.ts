/** A front in a process of its own: serves clients as the main process does, and asks the brain over one connection. */

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Question } from '../../estimate/estimator.ts'
import { repeatedAnswers } from '../../front/cache/repeated-answers.ts'
import { sharedCache } from '../../front/cache/shared-cache.ts'
import type { FrontServer } from '../../front/connection-steps.ts'
import type { DirectPath } from '../../front/direct/direct-path.ts'
import { frontServer } from '../../front/front.ts'
import { FrontOverload } from '../../front/overload/front-overload.ts'
import { OverloadWatch } from '../../front/overload/overload-watch.ts'
import { resourceReader } from '../../front/overload/readings.ts'
import { type ClientNamer, clientNamer } from '../../front/request/client-name.ts'
import { sweepTemporaryFiles } from '../../front/temporary-file.ts'
import { Certificates } from '../../front/tls/certificates.ts'
import type { WireError } from '../../lib/errors.ts'
import type { DirectOrder } from '../../wire/direct.ts'
import type { FrontWelcome, ToFront } from '../../wire/front-messages.ts'
import { now } from '../clock.ts'
import { FrontKeeper } from '../keeper/front-keeper.ts'
import { LinkedKeeper } from '../keeper/linked-keeper.ts'
import { listen, urlOf } from '../listen.ts'
import { type Serving, serviceOf, servingOf } from '../serving.ts'
import { StopRefusal } from '../stopping.ts'
import { BrainLink } from './brain-link.ts'
import { type FrontDirect, openDirect } from './direct.ts'
import type { FrontOptions } from './front-options.ts'
import { KnownWorkers } from './known-workers.ts'
import { leaveClients, requestCounter } from './leaving.ts'
import { noEstimator } from './no-estimator.ts'
import { PendingRequests } from './pending-requests.ts'
import { askedOf, RemoteQuotes } from './remote-quotes.ts'
import { SharedCount } from './shared-count.ts'

/** Runs until the brain or the signal ends it and its requests are answered. Rejects if it cannot join or is refused. */
export async function runFront(options: FrontOptions, signal: AbortSignal): Promise<void> {
  void sweepTemporaryFiles()
  await serveFront(options, await servingOf(options), signal)
}

/** Like `runFront`, for workloads or a server that are loaded already. */
export async function serveFront(options: FrontOptions, serving: Serving, signal: AbortSignal) {
  const front = new RemoteFront(options, serving)
  signal.addEventListener('abort', () => front.leave(options.leaveMs, true), { once: true })
  options.share?.onLeave((limitMs) => front.leave(limitMs))
  if (!signal.aborted) await front.run()
}

class RemoteFront {
  readonly #options: FrontOptions
  readonly #serving: Serving
  readonly #link: BrainLink
  readonly #workers: KnownWorkers
  readonly #pending: PendingRequests
  readonly #quotes: RemoteQuotes
  readonly #keeper: FrontKeeper
  readonly #linkedKeeper: LinkedKeeper
  readonly #welcomed = Promise.withResolvers<FrontWelcome>()
  /** Resolves when the front is to end; rejects if the brain refuses it. */
  readonly #end = Promise.withResolvers<void>()
  #server: FrontServer | undefined
  #direct: FrontDirect | undefined
  /** The last one, which may arrive before the direct path is open. */
  #order: DirectOrder | undefined
  #clientOf: ClientNamer = clientNamer('address')
  #ready = false
  readonly #shared = new SharedCount((count) => this.#link.send({ type: 'shared', count }))
  #stopping = false
  readonly #stopRefusal = new StopRefusal()
  readonly #closed = () => (this.#stopping ? this.#stopRefusal.problem() : this.#pending.closed)
  /** When pending requests are abandoned, by `performance.now()`. Finite: the front leaves. */
  #leaveBy = Infinity

  constructor(options: FrontOptions, serving: Serving) {
    const { id, join, token, launch, holdMs, share, log, effects } = options
    this.#options = options
    this.#serving = serving
    this.#workers = new KnownWorkers(effects?.upstreamAt)
    this.#end.promise.catch(() => {})
    const link = () => this.#link
    this.#pending = new PendingRequests({ workers: this.#workers, holdMs, now, link, log })
    this.#quotes = new RemoteQuotes({ holdMs, link, noBrain: () => this.#pending.noBrain() })
    const want = () => this.#link.send({ type: 'wants-keeper' })
    this.#linkedKeeper = new LinkedKeeper({ join: () => join.current, token, want })
    this.#keeper = new FrontKeeper(share?.keeper ?? this.#linkedKeeper)
    this.#link = new BrainLink({
      join,
      token,
      ...(effects && { connect: effects.connect }),
      hello: {
        ...{ id, pid: process.pid, instance: randomUUID(), code: { ...serving.joining } },
        ...(launch !== undefined && { launch }),
      },
      onWelcome: (welcome) => this.#onWelcome(welcome),
      onMessage: (message) => this.#receive(message),
      onLost: () => this.#onLost(),
      onRefused: (error) => this.#end.reject(error),
    })
  }

  /** Finishes all requests within this time, and ends. A repeated call can only shorten the time. `isEnd`: nobody waits for kept jobs. */
  leave(limitMs: number, isEnd = false): void {
    if (isEnd) this.#keeper.waiting.end()
    this.#leaveBy = Math.min(this.#leaveBy, performance.now() + limitMs)
    this.#end.resolve()
  }

  async run(): Promise<void> {
    await using opened = new AsyncDisposableStack()
    opened.defer(() => this.#workers.close())
    opened.defer(() => this.#link.close())
    opened.defer(() => this.#pending.close())
    await this.#join()
    const welcome = await Promise.race([this.#welcomed.promise, this.#end.promise])
    if (!welcome) return
    const server = this.#serve(welcome, opened)
    const requests = requestCounter(server)
    await this.#listen(server)
    const trouble = await this.#end.promise.then(
      () => undefined,
      (error: WireError) => error,
    )
    this.#direct?.leave()
    server.fastPath?.lendAll()
    if (!trouble) this.#link.send({ type: 'leaving' })
    this.#keeper.leave()
    this.#options.share?.leaving(requests())
    if (trouble) this.#keeper.waiting.end()
    await leaveClients([server, this.#keeper.server], this.#pending, {
      late: () => this.#keeper.waiting.end(),
      until: () => (trouble ? 0 : this.#leaveBy),
      hurry: () => this.#stopping || trouble !== undefined,
      problem: trouble ? this.#pending.noBrain() : this.#stopRefusal.problem(),
    })
    if (trouble) throw trouble
    this.#direct?.close()
    this.#link.send({ type: 'left' })
  }

  /** A front that the cluster started waits for a brain that is being restarted, one with several addresses for a leader. */
  async #join(): Promise<void> {
    const { share, join, id, log } = this.#options
    for (let tries = 0; ; tries++) {
      try {
        return await this.#link.open()
      } catch (error) {
        const { final, message } = error as WireError
        if (!(share || join.isFollower) || final || this.#leaveBy < Infinity) throw error
        if (join.isFollower && tries === 0) log(`front ${id}: waits for a cluster that leads: ${message}`)
        await delay(join.next())
      }
    }
  }

  /** The server as the brain's settings describe it; `opened` closes it. */
  #serve(welcome: FrontWelcome, opened: AsyncDisposableStack): FrontServer {
    const { limits, repeats, quantities, beatMs } = welcome
    const { join, token, share, log, arrived, effects } = this.#options
    const { cacheBytes: mostBytes = 0 } = repeats
    const reader = effects?.resources ?? resourceReader({ memoryMb: limits.processMb })
    const watch = new OverloadWatch({ reader, now, log: (line) => log(`front ${this.#options.id}: ${line}`) })
    watch.onStatus((status) => this.#link.send({ type: 'overload', status }))
    opened.defer(() => watch.close())
    this.#pending.overload = watch
    const isUp = () => this.#link.isUp
    // The first request would have to wait for it.
    if (!this.#serving.own && !effects) void import('undici')
    const cache =
      mostBytes > 0 ? sharedCache({ join: () => join.current, token, mostBytes, isUp }) : undefined
    opened.defer(() => cache?.close())
    const answers = repeatedAnswers(repeats, cache, now)
    if (answers) opened.adopt(this.#shared.report(answers, beatMs), (timer) => clearInterval(timer))
    const overload = new FrontOverload({ watch, limits })
    const direct = this.#openDirect(welcome, overload, opened)
    const files = share ? limits.tls : this.#options.tls
    const certificates = files && new Certificates({ files, log })
    const server = frontServer({
      service: serviceOf(this.#serving, { limits, quantities, log, startThread: effects?.startThread }),
      repeats: answers,
      estimator: noEstimator,
      describeQuote: (question: Question) => this.#quotes.ask(askedOf(question)),
      ...{ limits, now, log },
      ...{ overload, direct, certificates, keeper: this.#keeper },
      clientOf: (request) => this.#clientOf(request),
      closed: this.#closed,
      isReady: () => this.#ready && !this.#stopping,
      submit: (submission) => this.#pending.submit(submission),
    })
    opened.defer(() => {
      if (server.listening) NetServer.prototype.close.call(server)
      server.closeAllConnections()
    })
    if (arrived) server.on('request', ({ url }) => url?.startsWith('/-/') || arrived())
    this.#server = server
    this.#keeper.serve(server)
    return server
  }

  /** The direct path, as the brain delegates it; `opened` closes it. */
  #openDirect(
    { limits, quantities }: FrontWelcome,
    overload: FrontOverload,
    opened: AsyncDisposableStack,
  ): DirectPath | undefined {
    const { join, log } = this.#options
    // Programs listen on the brain's machine.
    if (join.isSecure && this.#serving.own) return undefined
    this.#direct = openDirect(this.#serving, this.#link, {
      ...{ limits, overload, log, quantities },
      reach: (worker) => this.#workers.reach(worker),
      clientOf: (request) => this.#clientOf(request),
      closed: this.#closed,
    })
    this.#direct?.update(this.#order)
    opened.defer(() => this.#direct?.close())
    return this.#direct?.path
  }

  async #listen(server: Server): Promise<void> {
    const { id, share, port, host, listening, log } = this.#options
    if (share) await share.listen(server)
    else await listen(server, port, host, '--port')
    this.#announce(server)
    listening?.()
    if (!share) log(`front ${id}: requests at ${this.#urlOf(server)}`)
  }

  #announce(server: Server): void {
    const { share } = this.#options
    this.#link.send({ type: 'listening', ...(!share && { url: this.#urlOf(server) }) })
  }

  #urlOf(server: Server): string {
    const { host, tls } = this.#options
    return urlOf(server, host, tls ? 'https' : 'http')
  }

  #onWelcome(welcome: FrontWelcome): void {
    this.#clientOf = clientNamer(welcome.clientBy, welcome.limits.trustedProxies)
    this.#ready = welcome.ready
    this.#workers.token = welcome.attemptToken
    this.#stopping = this.#stopping && welcome.resumed
    if (!welcome.resumed) this.#workers.replace(welcome.workers)
    if (!welcome.resumed && this.#server?.listening) this.#announce(this.#server)
    if (!welcome.resumed) this.#shared.startOver()
    if (!welcome.resumed && this.#leaveBy < Infinity) this.#link.send({ type: 'leaving' })
    this.#pending.welcomed(welcome)
    if (!welcome.resumed) this.#quotes.askAgain()
    this.#linkedKeeper.tell(welcome.keeper)
    this.#delegated(welcome.direct)
    this.#stopRefusal.started()
    this.#welcomed.resolve(welcome)
  }

  #delegated(order: DirectOrder | undefined): void {
    this.#order = order
    if (this.#direct) this.#direct.update(order)
    // Without a direct path, nothing is in progress.
    else if (order) this.#link.send({ type: 'direct-standing', seq: order.seq, workers: [] })
  }

  #onLost(): void {
    this.#options.log('front: the brain is unreachable; requests are held')
    this.#ready = false
    this.#pending.lost()
  }

  #receive(message: ToFront): void {
    switch (message.type) {
      case 'worker':
        this.#workers.add(message.id, message.address)
        return this.#direct?.update(this.#order)
      case 'worker-gone':
        this.#workers.remove(message.id)
        return this.#direct?.update(this.#order)
      case 'ready':
        this.#ready = message.ready
        return
      case 'keeper':
        return this.#linkedKeeper.tell(message.keeper)
      case 'quote':
        return this.#quotes.receive(message)
      case 'direct':
        return this.#delegated(message)
      case 'stopping':
        if (this.#options.share) this.#stopping = true
        else this.#pending.holding = true
        return
      case 'leave':
        return this.leave(this.#options.leaveMs)
      default:
        return this.#pending.receive(message)
    }
  }
}
