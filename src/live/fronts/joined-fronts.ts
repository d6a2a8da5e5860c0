/** The fronts that have joined a live cluster from other processes: what they ask for and what they are told. */

import type { OpenJob } from '../../front/open-job.ts'
import type { Ongoing } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { FrontConnection } from '../../wire/accept.ts'
import type {
  Arrival,
  Asked,
  FromFront,
  FrontHello,
  FrontWelcome,
  ToFront,
  ToldProblem,
} from '../../wire/front-messages.ts'
import type { Frame } from '../../wire/session.ts'
import type { Delegation } from '../direct/delegation.ts'
import { type EstimatedJob, toldProblem } from './arrivals.ts'
import type { FrontState, KnownFront } from './front-state.ts'
import { type Joined, joinedFront } from './joined-front.ts'
import { Lookups } from './lookups.ts'
import { RemoteJob } from './remote-job.ts'

export type { FrontState, KnownFront }

/** A front that is silent for this long is disconnected; it may reconnect. */
const silentMs = 10_000

export interface JoinedFrontsParts {
  beatMs: number
  /** Reconnect grace period: after it, the jobs of a disconnected front are cancelled. */
  graceMs: number
  welcome(): Omit<FrontWelcome, 'type' | 'session' | 'resumed' | 'received' | 'beatMs'>
  isReady(): boolean
  jobOf(arrival: Arrival, front: string): EstimatedJob
  /** Awaited before `jobOf`, if the estimator has a store. */
  look?: ((asked: Asked) => Promise<void>) | undefined
  quoteOf(asked: Asked): unknown
  /** A request is to be kept, and the front knows no keeper. */
  wantKeeper(): void
  /** Hands a job to the brain. `pressure`: of the front's overload. */
  submit(job: RemoteJob, pressure: number, on?: Ongoing): void
  tell(event: Event): void
  ended(job: OpenJob): void
  /** Learns what fronts send to workers without asking. */
  delegation(): Pick<Delegation, 'report' | 'standing'>
  log(line: string): void
}

export class JoinedFronts {
  readonly #parts: JoinedFrontsParts
  readonly #joined = new Map<string, Joined>()
  readonly #timer: NodeJS.Timeout
  readonly #lookups = new Lookups()
  #wasReady = false
  #sharedBefore = 0

  constructor(parts: JoinedFrontsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#beat(), parts.beatMs)
  }

  list(): FrontState[] {
    return [...this.#joined.values()].map(({ hello, url, connection, jobs, accepted, phase, overload }) => ({
      id: hello.id,
      pid: hello.pid,
      url,
      launch: hello.launch,
      state: connection ? phase : 'away',
      inHand: jobs.size,
      accepted,
      overload,
    }))
  }

  /** Requests that joined the job of another, at any front. */
  shared(): number {
    return [...this.#joined.values()].reduce((sum, { shared }) => sum + shared, this.#sharedBefore)
  }

  /** What is known of a front by this id. */
  known(id: string): KnownFront | undefined {
    const front = this.#joined.get(id)
    return front && { hello: front.hello, session: front.name, isConnected: front.connection !== undefined }
  }

  /** Adds a front that may join, in place of one by the same id. */
  add(connection: FrontConnection, hello: FrontHello): void {
    const before = this.#joined.get(hello.id)
    if (before) this.#forget(before)
    this.#attach(this.#remember(hello), connection, { resumed: false, received: 0 })
  }

  /** A known front has reconnected and continues its session. */
  resume(connection: FrontConnection, { id, received }: FrontHello): void {
    this.#attach(this.#joined.get(id)!, connection, { resumed: true, received })
  }

  broadcast(message: ToFront): void {
    for (const { session } of this.#joined.values()) session.send(message)
  }

  send(id: string, message: ToFront): void {
    const front = this.#joined.get(id)
    front?.session.send(message)
    if (front && message.type === 'leave') front.phase = 'leaving'
  }

  /** Its process has ended: its jobs are cancelled at once. */
  gone(id: string): void {
    const front = this.#joined.get(id)
    if (front) this.#forget(front)
  }

  /** The cluster no longer leads: fronts that joined it for that go to another one, with their requests. */
  sendAway(message: string): void {
    for (const front of [...this.#joined.values()]) {
      if (front.hello.follows === undefined) continue
      front.connection?.send({ type: 'not-leader', message })
      this.#forget(front)
    }
  }

  /** Tells fronts whether workers are ready, if that has changed. */
  refresh(): void {
    if (this.#joined.size === 0) return
    const ready = this.#parts.isReady()
    if (ready === this.#wasReady) return
    this.#wasReady = ready
    this.broadcast({ type: 'ready', ready })
  }

  close(): void {
    clearInterval(this.#timer)
    for (const front of this.#joined.values()) {
      clearTimeout(front.grace)
      front.connection?.close()
    }
  }

  /** `received`: the last message that the front has. */
  #attach(
    front: Joined,
    connection: FrontConnection,
    { resumed, received: had }: { resumed: boolean; received: number },
  ): void {
    const { welcome, beatMs } = this.#parts
    if (front.connection) this.#lost(front, front.connection)
    clearTimeout(front.grace)
    front.connection = connection
    front.lastMessageAt = performance.now()
    connection.onMessage = (frame) => this.#frame(front, connection, frame as Frame<FromFront>)
    connection.onClose = () => this.#lost(front, connection)
    const { received } = front.session
    this.refresh()
    connection.send({ type: 'welcome', session: front.name, resumed, received, beatMs, ...welcome() })
    front.session.attach(connection, had)
  }

  #remember(hello: FrontHello): Joined {
    const front = joinedFront(hello)
    this.#joined.set(hello.id, front)
    return front
  }

  /** The connection is closed, or replaced by another. */
  #lost(front: Joined, connection: FrontConnection): void {
    connection.onMessage = () => {}
    connection.onClose = () => {}
    connection.cut()
    if (front.connection !== connection) return
    front.connection = undefined
    front.session.detach()
    if (this.#joined.get(front.hello.id) !== front) return
    front.grace = setTimeout(() => {
      this.#parts.log(`front ${front.hello.id}: did not reconnect: its ${front.jobs.size} jobs are cancelled`)
      this.#forget(front)
    }, this.#parts.graceMs)
    front.grace.unref()
  }

  /** Removes a front and cancels its jobs. */
  #forget(front: Joined): void {
    clearTimeout(front.grace)
    if (this.#joined.get(front.hello.id) === front) this.#sharedBefore += front.shared
    this.#joined.delete(front.hello.id)
    this.#parts.delegation().standing(front.hello.id, undefined)
    front.session.detach()
    if (front.connection) this.#lost(front, front.connection)
    for (const job of [...front.jobs.values()]) job.cancel()
  }

  #frame(front: Joined, connection: FrontConnection, frame: Frame<FromFront>): void {
    front.lastMessageAt = performance.now()
    const message = front.session.take(frame)
    if (message === undefined) return
    try {
      this.#receive(front, message)
    } catch (error) {
      // A message that cannot be handled now could not be handled after a reconnect either.
      this.#parts.log(`front ${front.hello.id}: ${(error as Error).message}`)
      this.#forget(front)
      connection.cut()
    }
  }

  #receive(front: Joined, message: FromFront): void {
    switch (message.type) {
      case 'listening':
        front.phase = 'ready'
        front.url = message.url
        return
      case 'leaving':
        front.phase = 'leaving'
        return
      case 'arrived':
        return this.#lookups.begin(message.job, this.#parts.look?.(message), () =>
          this.#arrived(front, message),
        )
      case 'attempt':
        return this.#lookups.after(message.event.job, () =>
          front.jobs.get(message.event.job)?.receive(message.event, message.cost),
        )
      case 'cancelled':
        return this.#lookups.after(message.job, () => front.jobs.get(message.job)?.cancel())
      case 'going':
        return this.#lookups.after(message.job, () => front.jobs.get(message.job)?.going(message))
      case 'ask':
        this.#asked(front, message)
        return
      case 'overload':
        front.overload = message.status
        return
      case 'wants-keeper':
        return this.#parts.wantKeeper()
      case 'shared':
        front.shared = message.count
        return
      case 'direct':
        for (const { answered } of message.counts) front.accepted += answered
        return this.#parts.delegation().report(message)
      case 'direct-standing':
        return this.#parts.delegation().standing(front.hello.id, message)
      case 'left':
        return this.#forget(front)
    }
  }

  async #asked(front: Joined, { ask, about }: Extract<FromFront, { type: 'ask' }>): Promise<void> {
    const send = (answer: { quote: unknown } | { problem: ToldProblem }) =>
      front.session.send({ type: 'quote', ask, ...answer })
    try {
      await this.#parts.look?.(about)
      send({ quote: this.#parts.quoteOf(about) })
    } catch (error) {
      send({ problem: this.#wrong(front, error as Error) })
    }
  }

  /** One request that cannot be accepted leaves the others of its front alone. */
  #wrong({ hello: { id } }: Joined, error: Error): ToldProblem {
    return toldProblem(error, (line) => this.#parts.log(`front ${id}: ${line}`))
  }

  #arrived(front: Joined, arrival: Arrival): void {
    const { jobOf, tell, ended, submit } = this.#parts
    // It may have been lost during a lookup.
    if (this.#joined.get(front.hello.id) !== front) return
    let estimated: EstimatedJob
    try {
      estimated = jobOf(arrival, front.hello.id)
    } catch (error) {
      const problem = this.#wrong(front, error as Error)
      return front.session.send({ type: 'abandon', job: arrival.job, problem })
    }
    const { on } = arrival
    const job = new RemoteJob({
      ...estimated,
      ...(on && { on }),
      send: (message) => front.session.send(message),
      tell,
      ended(done) {
        front.jobs.delete(arrival.job)
        ended(done)
      },
    })
    front.jobs.set(arrival.job, job)
    front.accepted++
    submit(job, front.overload?.pressure ?? 0, on)
  }

  #beat(): void {
    this.refresh()
    for (const front of this.#joined.values()) {
      if (!front.connection) continue
      if (performance.now() - front.lastMessageAt > silentMs) this.#lost(front, front.connection)
      else front.session.beat()
    }
  }
}
