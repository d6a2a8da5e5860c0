/** A worker process: a pool of slots or programs, a supervisor, a server for attempts, and a connection to the brain. */

import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { WireError } from '../lib/errors.ts'
import { thousandths } from '../lib/quantities.ts'
import { disciplines } from '../model/discipline.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { connectToBrain, originOf } from '../wire/connect.ts'
import { directProtocol } from '../wire/direct-frames.ts'
import type { JoinAddresses } from '../wire/join-addresses.ts'
import { termOf } from '../wire/leading.ts'
import type { Line } from '../wire/lines.ts'
import { type FromBrain, type FromWorker, wireVersion } from '../wire/messages.ts'
import { attemptTokenOf } from '../wire/token.ts'
import type { ActiveRole, RoleStarter } from './active-role.ts'
import { type AttemptPort, attemptPort } from './attempts/attempt-port.ts'
import { attemptServer } from './attempts/attempt-server.ts'
import { type OpenPool, openPool, type PoolOptions, type WorkerCode } from './open-pool.ts'
import { queuedMs } from './processes/proc.ts'
import { nominalRate } from './rates.ts'
import { Supervisor } from './supervisor.ts'
import { poolState, reportState } from './worker-state.ts'

export type WorkerOptions = ConnectionOptions & PoolOptions & WorkerCode

export interface ConnectionOptions {
  id: string
  join: JoinAddresses
  /** Of workers. */
  token: string
  launch?: string
  /** Memory of the whole worker. */
  memoryMb: number
  /** The address at which fronts reach this worker. */
  host: string
  /** How long to try to reconnect to the brain after the connection broke; 0: not at all. */
  reconnectMs: number
  /** Grace period for running attempts after the abort signal. */
  leaveMs: number
  /** Starts the role that the brain assigns. Undefined: the worker cannot have roles. */
  startRole?: RoleStarter
}

const byItself: WorkerEnd = { isLost: false }

/** Delay between attempts to reconnect to the only brain. */
const reconnectEveryMs = 250
/** A brain that misses this many signs of life is unreachable, for a worker that may go to another one. */
const silentBeats = 10

/** How the brain ended a worker. */
export interface WorkerEnd {
  /** True: the brain had given it up. */
  isLost: boolean
  /** Why; undefined: the worker ended by itself, after a signal. */
  why?: string
}

/**
 * Runs until the brain ends the worker. Rejects with a `WireError` if the brain refuses it, or can no longer be reached. On the abort signal
 * the worker tells the brain, which sends no more attempts and ends the worker when its attempts have finished.
 */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<WorkerEnd> {
  const opened = await openPool(options, options)
  return await new Worker(options, opened, signal).run()
}

/** CPU time that this process, which runs no jobs itself, used or waited for. Like an idle machine, it never uses none. */
function ownDemandMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + (queuedMs('self') ?? 0)
}

class Worker {
  readonly #options: WorkerOptions
  readonly #opened: OpenPool
  readonly #signal: AbortSignal
  readonly #supervisor: Supervisor
  readonly #server: Server
  readonly #port: AttemptPort
  readonly #welcomed = Promise.withResolvers<void>()
  readonly #over = Promise.withResolvers<WorkerEnd>()
  readonly #instance = randomUUID()
  #line: Line<FromWorker> | undefined
  #seq = 0
  #heartbeat: NodeJS.Timeout | undefined
  #leaveTimer: NodeJS.Timeout | undefined
  #role: ActiveRole | undefined
  #ended = false
  /** Of the brain that it joined last. */
  #epoch: number | undefined
  #lastMessageAt = 0
  /** When it gives up to look for a brain. Undefined: it has joined one. */
  #until: number | undefined

  constructor(options: WorkerOptions, opened: OpenPool, signal: AbortSignal) {
    const { pool, direct, cores, slots, meter, limitMs } = opened
    this.#options = options
    this.#opened = opened
    this.#signal = signal
    this.#supervisor = new Supervisor(
      { pool, cores, slots, meter, limitMs, send: (message) => this.#line?.send(message) },
      disciplines.srpt,
    )
    const attemptToken = attemptTokenOf(options.token)
    this.#server = attemptServer(this.#supervisor, attemptToken, this.#welcomed.promise, { direct })
    this.#port = attemptPort(this.#server, options.host, attemptToken, options.join.isSecure)
    // It may reject before `run` awaits it.
    this.#over.promise.catch(() => {})
  }

  async run(): Promise<WorkerEnd> {
    const { pool, direct } = this.#opened
    try {
      this.#signal.addEventListener('abort', () => this.#leave(), { once: true })
      if (this.#signal.aborted) this.#over.resolve(byItself)
      // A program may take long to start; the abort signal does not wait for it.
      await Promise.race([pool.ready(), this.#over.promise])
      if (this.#signal.aborted) return byItself
      await this.#port.open()
      await this.#join().catch((cause: WireError) => {
        const { launch, join, reconnectMs } = this.#options
        // The brain may be restarted while a worker that it launched boots, or another cluster be about to lead.
        if (cause.final || !(launch !== undefined || join.isFollower) || reconnectMs === 0) throw cause
        this.#rejoin(cause)
      })
      return await this.#over.promise
    } finally {
      this.#ended = true
      clearInterval(this.#heartbeat)
      clearTimeout(this.#leaveTimer)
      await this.#role?.close()
      this.#line?.close()
      this.#port.close()
      direct?.close()
      await pool.close()
    }
  }

  #receive(message: FromBrain): void {
    this.#lastMessageAt = performance.now()
    switch (message.type) {
      case 'beat':
        return
      case 'not-leader':
        return this.#line?.cut()
      case 'welcome':
        return this.#welcome(message)
      case 'refused':
        return this.#over.reject(this.#refusal(message.message))
      case 'go':
        return this.#supervisor.go(message)
      case 'cancel':
        return this.#supervisor.cancel(message)
      case 'rank':
        return this.#supervisor.rank(message, message.precedence)
      case 'assign':
        if (this.#role?.role !== message.role) this.#takeRole(message)
        return
      case 'deny':
        // The role asks again when its next check is due.
        return
      case 'drain':
        // Attempts that are already on their way are still accepted: the brain decides what it sends.
        this.#role?.leave()
        this.#opened.direct?.jobs.drain()
        return
      case 'end':
        return this.#over.resolve({
          isLost: message.lost === true,
          why: message.message ?? 'the cluster told it to end',
        })
    }
  }

  #refusal(why: string): WireError {
    const { join, id } = this.#options
    return new WireError(`${originOf(join.current)} refused the worker ${id}: ${why}`, true)
  }

  #welcome({ epoch, discipline, following, beatMs }: Extract<FromBrain, { type: 'welcome' }>): void {
    const supervisor = this.#supervisor
    // A brain before this one may have wanted it to drain.
    if (this.#epoch !== undefined && this.#epoch !== epoch && !this.#signal.aborted && !this.#role)
      this.#opened.direct?.jobs.resume()
    this.#epoch = epoch
    this.#until = undefined
    this.#options.join.joined()
    supervisor.term = Math.max(supervisor.term, termOf(epoch))
    supervisor.discipline = disciplines[discipline]
    supervisor.following = following
    clearInterval(this.#heartbeat)
    this.#heartbeat = setInterval(() => {
      const held = supervisor.report()
      const jobsMs = supervisor.demandMs() + (this.#opened.direct?.jobs.demandMs() ?? 0)
      const cpuMs = thousandths(jobsMs + ownDemandMs())
      const role = this.#role && { role: this.#role.role }
      const state = { ...role, ...reportState(this.#opened) }
      this.#line?.send({ type: 'report', seq: ++this.#seq, held, cpuMs, ...state })
      supervisor.askAgain()
      const silentMs = performance.now() - this.#lastMessageAt
      if (this.#options.join.isFollower && silentMs > silentBeats * beatMs) this.#line?.cut()
    }, beatMs)
    this.#welcomed.resolve()
  }

  /** Replaces the role that another brain may have assigned. */
  #takeRole(assigned: Extract<FromBrain, { type: 'assign' }>): void {
    const { id, startRole } = this.#options
    if (!startRole) {
      return this.#over.reject(new WireError(`this worker cannot be a ${assigned.role}`, true))
    }
    // A role counts requests, which small jobs are not.
    this.#opened.direct?.jobs.drain()
    if (!this.#role) {
      const count = ({ headers }: IncomingMessage, response: EventEmitter) => {
        if (this.#role && headers.upgrade !== directProtocol) response.once('close', this.#role.begin())
      }
      this.#server.on('request', count).on('upgrade', count)
    }
    this.#role?.leave()
    this.#role = startRole(assigned, {
      id,
      ask: (request) => this.#line?.send({ type: 'leave-request', ...request }),
      failed: this.#over.reject,
    })
  }

  async #join(): Promise<void> {
    const { join, token, launch, reconnectMs } = this.#options
    const broken = (error: Error | undefined) => {
      this.#line = undefined
      clearInterval(this.#heartbeat)
      this.#rejoin(error)
    }
    const { limitMs } = join
    const joining = { role: 'worker', token, ...(limitMs !== undefined && { limitMs }) } as const
    this.#until ??= performance.now() + reconnectMs
    const line = await connectToBrain(join.current, joining, (message) => this.#receive(message), broken)
    this.#line = line
    line.send({
      type: 'hello',
      version: wireVersion,
      worker: this.#facts(),
      ...(launch !== undefined && { launch }),
      pid: process.pid,
      instance: this.#instance,
      address: this.#port.address(),
      code: this.#opened.hashes,
      seq: ++this.#seq,
      held: this.#supervisor.report(true),
      ...(join.isFollower && { follows: this.#supervisor.term }),
      ...poolState(this.#opened),
    })
    // A brain that is frozen accepts connections, and never answers.
    if (limitMs !== undefined) setTimeout(() => this.#until !== undefined && line.cut(), limitMs).unref()
  }

  #rejoin(error: Error | undefined): void {
    if (this.#ended) return
    if (this.#signal.aborted) return this.#over.resolve(byItself)
    const { join, reconnectMs } = this.#options
    this.#until ??= performance.now() + reconnectMs
    if (performance.now() >= this.#until) {
      const reason = error ? `: ${error.message}` : ''
      this.#over.reject(new WireError(`lost ${originOf(join.current)}${reason}`, true))
      return
    }
    const waitMs = join.next()
    setTimeout(
      () => {
        if (this.#ended) return
        this.#join().catch((cause: WireError) => {
          if (cause.final) this.#until = 0
          this.#rejoin(cause)
        })
      },
      join.isFollower ? waitMs : reconnectEveryMs,
    )
  }

  #leave(): void {
    if (this.#ended) return
    if (!this.#line || !this.#heartbeat) return this.#over.resolve(byItself)
    this.#line.send({ type: 'leaving' })
    this.#opened.direct?.jobs.drain()
    this.#leaveTimer = setTimeout(() => this.#over.resolve(byItself), this.#options.leaveMs)
  }

  #facts(): WorkerFacts {
    const { cores, slots, meter, pool } = this.#opened
    const { id } = this.#options
    const memoryMb = Math.max(1, this.#options.memoryMb - Math.ceil(pool.restMb ?? 0))
    return { id, cores, workPerSecond: nominalRate(meter) * 1000, memoryMb, slots }
  }
}
