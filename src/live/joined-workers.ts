/** The workers that have joined a live cluster: how each is reached, and what it reports. */

import type { Upstream } from '../front/transports/transport.ts'
import { closeUpstream, type OwnedUpstream, upstreamAt } from '../front/transports/upstream.ts'
import type { Event } from '../model/event.ts'
import type { Provider } from '../model/provider.ts'
import type { Reason } from '../model/reason.ts'
import { isLoss } from '../story/fleet-story.ts'
import { explain } from '../story/reasons.ts'
import type { WorkerConnection } from '../wire/accept.ts'
import type { Address, ToFront } from '../wire/front-messages.ts'
import type { FromBrain, FromWorker, WorkerHello } from '../wire/messages.ts'
import type { OpenPrograms } from '../wire/programs.ts'
import type { MetricsRecorder } from './metrics-recorder.ts'
import { ping } from './ping.ts'

interface Joined {
  upstream: OwnedUpstream
  launch: string | undefined
  pid: number
  instance: string | undefined
  /** Hashes of its code. */
  code: Readonly<Record<string, string>>
  connection: WorkerConnection | undefined
  /** It joined because the cluster leads. */
  isFollower: boolean
}

/** What is known of a worker that has joined. */
export interface KnownWorker extends Pick<Joined, 'pid' | 'instance'> {
  address: Address
  isConnected: boolean
}

/** True: the worker is the process that joined before. */
export function isSameProcess(
  one: Pick<WorkerHello, 'pid'> & { instance?: string | undefined },
  other: typeof one,
): boolean {
  return one.pid === other.pid && one.instance === other.instance
}

/** Longer descriptions of a problem are cut. */
const mostProblem = 1000

export interface JoinedWorkersParts {
  welcome(): Extract<FromBrain, { type: 'welcome' }>
  /** How often workers that would go to another cluster get a sign of life. */
  beatMs: number
  /** Authorizes attempts at workers. */
  attemptToken: string
  /** After this time the answer to a ping is no longer waited for. */
  pingMs: number
  metrics: MetricsRecorder | undefined
  fleet: Pick<Provider, 'joined' | 'terminate'>
  tell(event: Event): void
  /** Why workers cannot run jobs now, by worker. Kept up to date here. */
  problems: Map<string, string>
  /** A worker joined, or its problem is new or gone. */
  onChange(worker: string): void
  /** A worker has reported its programs. */
  programs(worker: string, programs: OpenPrograms | undefined): void
  /** Tells front processes the addresses of workers. */
  tellFronts(message: Extract<ToFront, { type: 'worker' | 'worker-gone' }>): void
}

export class JoinedWorkers {
  readonly #parts: JoinedWorkersParts
  readonly #joined = new Map<string, Joined>()
  readonly #byLaunch = new Map<string, string>()
  #beat: NodeJS.Timeout | undefined

  constructor(parts: JoinedWorkersParts) {
    this.#parts = parts
  }

  addresses(): { id: string; address: Address }[] {
    return [...this.#joined].map(([id, { upstream }]) => ({ id, address: upstream.address }))
  }

  upstreamOf(worker: string): Upstream | undefined {
    return this.#joined.get(worker)?.upstream
  }

  pidOf(worker: string): number | undefined {
    return this.#joined.get(worker)?.pid
  }

  /** Host and port of its own port. */
  addressOf(worker: string): string | undefined {
    const address = this.#joined.get(worker)?.upstream.address
    return address && `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
  }

  /** The launch of this cluster's fleet that it joined from; undefined: it was started by somebody else. */
  launchOf(worker: string): string | undefined {
    return this.#joined.get(worker)?.launch
  }

  codeOf(worker: string): Readonly<Record<string, string>> {
    return this.#joined.get(worker)?.code ?? {}
  }

  /** The worker that joined from this launch. */
  launchedBy(launch: string): string | undefined {
    return this.#byLaunch.get(launch)
  }

  /** A worker that is not connected misses the message. */
  send(worker: string, message: FromBrain): void {
    this.#joined.get(worker)?.connection?.send(message)
  }

  /** Asks the worker's port for a sign of life; a `pong` follows, or nothing. */
  ping(worker: string, number: number): void {
    const joined = this.#joined.get(worker)
    if (!joined) return
    const { attemptToken: token, pingMs: limitMs, tell } = this.#parts
    ping(joined.upstream.address, {
      ...{ token, limitMs },
      answered: () => tell({ type: 'pong', worker, ping: number }),
    })
  }

  known(worker: string): KnownWorker | undefined {
    const known = this.#joined.get(worker)
    if (!known) return undefined
    const { pid, instance, upstream, connection } = known
    return { pid, instance, address: upstream.address, isConnected: connection !== undefined }
  }

  /** Ends a worker. One that ends by itself is killed only after `graceMs`. Idempotent. */
  dismiss(id: string, graceMs: number, reason: Reason): void {
    const worker = this.#joined.get(id)
    if (!worker) return
    this.#joined.delete(id)
    this.#parts.problems.delete(id)
    this.#parts.programs(id, undefined)
    this.#parts.metrics?.workerGone(id)
    const isLost = isLoss(reason) || reason.code === 'not-expected'
    worker.connection?.send({ type: 'end', message: explain(reason), ...(isLost && { lost: true }) })
    worker.connection?.close()
    closeUpstream(worker.upstream)
    this.#parts.tellFronts({ type: 'worker-gone', id })
    const { launch } = worker
    // If two workers name the same launch, only the first is terminated with it.
    if (launch === undefined || this.#byLaunch.get(launch) !== id) return
    this.#byLaunch.delete(launch)
    this.#parts.fleet.terminate(launch, graceMs)
  }

  /** Tells all workers to end, or to go to the cluster that leads now. */
  end(): void {
    const message = 'the cluster stops'
    for (const { connection, isFollower } of this.#joined.values())
      connection?.send({ type: isFollower ? 'not-leader' : 'end', message })
  }

  /** Closes the connections to all workers' ports. */
  close(): void {
    clearInterval(this.#beat)
    for (const { upstream } of this.#joined.values()) closeUpstream(upstream)
  }

  /** Adds a worker that may join. `bootMs`: the boot time of a spare worker, measured before. */
  add(connection: WorkerConnection, hello: WorkerHello, bootMs?: number): void {
    const { welcome, tell } = this.#parts
    const { launch, seq, held, worker } = hello
    const { id } = worker
    const known = this.#joined.get(id)
    if (known && !isSameProcess(known, hello)) this.#forgetEnded(id, 'it was started again')
    this.#remember(connection, hello)
    connection.onMessage = (next) => this.#receive(id, next)
    connection.onClose = () => {
      const closed = this.#joined.get(id)
      if (closed?.connection !== connection) return
      closed.connection = undefined
      tell({ type: 'disconnected', worker: id })
    }
    connection.send(welcome())
    const boot = bootMs !== undefined && { bootMs }
    tell({ type: 'joined', worker, ...(launch !== undefined && { launch }), ...boot, seq, held })
    this.#note(id, hello.problem)
    this.#parts.programs(id, hello.programs)
    this.#parts.onChange(id)
  }

  #beatFollowers(): void {
    for (const { isFollower, connection } of this.#joined.values())
      if (isFollower) connection?.send({ type: 'beat' })
  }

  /** The cluster no longer leads: workers that joined it for that go to another one, with what they run. */
  sendAway(message: string): void {
    for (const [id, worker] of [...this.#joined]) {
      if (!worker.isFollower) continue
      const { connection } = worker
      worker.connection = undefined
      connection?.send({ type: 'not-leader', message })
      connection?.close()
      this.#forgetEnded(id, message)
    }
  }

  /** What the process had is lost for this cluster. */
  #forgetEnded(id: string, message: string): void {
    this.dismiss(id, 0, { code: 'lost', message })
    this.#parts.tell({ type: 'lost', worker: id, message, certain: true })
  }

  #remember(connection: WorkerConnection, hello: WorkerHello): void {
    const { address, launch, pid, instance, code } = hello
    const { id } = hello.worker
    const known = this.#joined.get(id)
    if (known) {
      // A broken connection may not have been noticed yet.
      known.connection?.cut()
      known.connection = connection
    } else {
      const upstream = upstreamAt(id, address, this.#parts.attemptToken)
      const isFollower = hello.follows !== undefined
      if (isFollower) this.#beat ??= setInterval(() => this.#beatFollowers(), this.#parts.beatMs)
      this.#joined.set(id, { upstream, launch, pid, instance, code, connection, isFollower })
      this.#parts.tellFronts({ type: 'worker', id, address })
    }
    if (launch !== undefined) {
      if (!this.#byLaunch.has(launch)) this.#byLaunch.set(launch, id)
      this.#parts.fleet.joined(launch)
    }
  }

  #receive(worker: string, message: FromWorker): void {
    const { tell, metrics } = this.#parts
    if (message.type === 'report') this.#report(worker, message)
    else if (message.type === 'progress') tell({ ...message, type: 'progressed', worker })
    else if (message.type === 'metrics') metrics?.counted(worker, message)
    else if (message.type === 'ready') tell({ ...message, worker })
    else if (message.type === 'leave-request')
      tell({ type: 'leave-requested', worker, why: message.why, ms: message.ms })
    else if (message.type === 'leaving') tell({ type: 'drain', worker, by: 'worker' })
  }

  #report(worker: string, { problem, programs, ...report }: Extract<FromWorker, { type: 'report' }>): void {
    if (this.#joined.has(worker) && this.#note(worker, problem)) this.#parts.onChange(worker)
    if (this.#joined.has(worker)) this.#parts.programs(worker, programs)
    this.#parts.tell({ ...report, type: 'reported', worker })
  }

  /** True: the worker begins or ceases to have a problem. */
  #note(worker: string, problem: unknown): boolean {
    const { problems } = this.#parts
    const had = problems.has(worker)
    if (typeof problem === 'string') problems.set(worker, problem.slice(0, mostProblem))
    else problems.delete(worker)
    return had !== problems.has(worker)
  }
}
