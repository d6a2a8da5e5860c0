/** The workers of a live cluster: who may join, how each is reached, and what they say. */

import type { Upstream } from '../front/transports/transport.ts'
import { cutUpstream, type OwnUpstream, upstreamAt } from '../front/transports/upstream.ts'
import type { Event } from '../model/event.ts'
import type { WorkerConnection } from '../wire/accept.ts'
import { whyNot } from '../wire/admission.ts'
import type { Address, ToFront } from '../wire/front-messages.ts'
import type { FromBrain, FromWorker } from '../wire/messages.ts'
import type { Provider } from './fleet/provider.ts'
import type { MetricsKeeper } from './metrics-keeper.ts'

type Hello = Extract<FromWorker, { type: 'hello' }>

interface Joined {
  upstream: OwnUpstream
  launch: string | undefined
  pid: number
  connection: WorkerConnection | undefined
}

export interface JoiningParts {
  /** Hashes of code, by workload: a worker must have the same. */
  code: Readonly<Record<string, string>>
  welcome: Extract<FromBrain, { type: 'welcome' }>
  keeper: MetricsKeeper | undefined
  tell(event: Event): void
  log(line: string): void
  /** Only asked for when a worker has joined: it may come up later than this. */
  fleet(): Pick<Provider, 'joined' | 'terminate'>
  /** A worker is ready to take jobs. */
  onReady(): void
  /** Fronts elsewhere are to know where workers are. */
  tellFronts(message: Extract<ToFront, { type: 'worker' | 'worker-gone' }>): void
}

export class JoinedWorkers {
  readonly #parts: JoiningParts
  readonly #joined = new Map<string, Joined>()
  readonly #byLaunch = new Map<string, string>()

  constructor(parts: JoiningParts) {
    this.#parts = parts
  }

  /** Where each is. */
  addresses(): { id: string; address: Address }[] {
    return [...this.#joined].map(([id, { upstream }]) => ({ id, address: upstream.address }))
  }

  upstreamOf(worker: string): Upstream | undefined {
    return this.#joined.get(worker)?.upstream
  }

  pidOf(worker: string): number | undefined {
    return this.#joined.get(worker)?.pid
  }

  /** True: the fleet has launched it. */
  isOwn(worker: string): boolean {
    return this.#joined.get(worker)?.launch !== undefined
  }

  /** The worker that this launch brought up. */
  launchedBy(launch: string): string | undefined {
    return this.#byLaunch.get(launch)
  }

  /** Whoever is not connected now hears nothing. */
  send(worker: string, message: FromBrain): void {
    this.#joined.get(worker)?.connection?.send(message)
  }

  /** Ends a worker: at once, or where it is to do so itself, after `graceMs`. Idempotent. */
  dismiss(id: string, graceMs: number): void {
    const worker = this.#joined.get(id)
    if (!worker) return
    this.#joined.delete(id)
    this.#parts.keeper?.workerGone(id)
    worker.connection?.send({ type: 'end' })
    worker.connection?.close()
    cutUpstream(worker.upstream)
    this.#parts.tellFronts({ type: 'worker-gone', id })
    const { launch } = worker
    // Of two that name the same launch only the first is the one that it brought up.
    if (launch === undefined || this.#byLaunch.get(launch) !== id) return
    this.#byLaunch.delete(launch)
    this.#parts.fleet().terminate(launch, graceMs)
  }

  /** Tells all to end. */
  end(): void {
    for (const { connection } of this.#joined.values()) connection?.send({ type: 'end' })
  }

  /** Cuts the ways to all workers. */
  close(): void {
    for (const { upstream } of this.#joined.values()) cutUpstream(upstream)
  }

  /** A worker has connected, and says who it is. If it may not join, it is told why, and so is the caller. */
  refuse(connection: WorkerConnection, hello: Hello): string | undefined {
    const { code, log } = this.#parts
    const message = whyNot(hello, code)
    if (message === undefined) return undefined
    log(`worker ${hello.worker.id}: refused: ${message}`)
    connection.send({ type: 'refused', message })
    connection.close()
    return message
  }

  /** Takes in a worker that may join. `bootMs`: see the event. */
  hello(connection: WorkerConnection, message: Hello, bootMs?: number): void {
    const { welcome, tell, onReady } = this.#parts
    const { id } = message.worker
    const { launch, seq, held, worker } = message
    this.#remember(connection, message)
    connection.onMessage = (next) => this.#heard(id, next)
    connection.onClose = () => {
      const known = this.#joined.get(id)
      if (known?.connection === connection) known.connection = undefined
    }
    connection.send(welcome)
    const boot = bootMs !== undefined && { bootMs }
    tell({ type: 'joined', worker, ...(launch !== undefined && { launch }), ...boot, seq, held })
    onReady()
  }

  #remember(connection: WorkerConnection, { worker: { id }, address, launch, pid }: Hello): void {
    const known = this.#joined.get(id)
    if (known) known.connection = connection
    else {
      const upstream = upstreamAt(id, address)
      this.#joined.set(id, { upstream, launch, pid, connection })
      this.#parts.tellFronts({ type: 'worker', id, address })
    }
    if (launch !== undefined) {
      if (!this.#byLaunch.has(launch)) this.#byLaunch.set(launch, id)
      this.#parts.fleet().joined(launch)
    }
  }

  #heard(worker: string, message: FromWorker): void {
    const { tell, keeper } = this.#parts
    if (message.type === 'report') tell({ ...message, type: 'reported', worker })
    else if (message.type === 'progress') tell({ ...message, type: 'progressed', worker })
    else if (message.type === 'metrics') keeper?.counted(worker, message)
    else if (message.type === 'ready') tell({ ...message, worker })
    else if (message.type === 'leave-request')
      tell({ type: 'leave-requested', worker, why: message.why, ms: message.ms })
    else if (message.type === 'leaving') tell({ type: 'drain', worker, by: 'worker' })
  }
}
