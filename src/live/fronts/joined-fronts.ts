/** The fronts of a live cluster that are processes of their own: who may join, what they ask for, and what they are told. */

import { randomUUID } from 'node:crypto'
import type { OpenJob } from '../../front/open-job.ts'
import type { Event } from '../../model/event.ts'
import type { FrontConnection } from '../../wire/accept.ts'
import { whyNot } from '../../wire/admission.ts'
import type {
  Arrival,
  Asked,
  FromFront,
  FrontHello,
  FrontWelcome,
  ToFront,
  ToldProblem,
} from '../../wire/front-messages.ts'
import { type Frame, Session } from '../../wire/session.ts'
import { FarJob } from './far-job.ts'

/** A front that is silent for so long is cut off, and may come back. */
const silentMs = 10_000

export interface FrontState {
  id: string
  pid: number
  /** Where clients reach it; undefined: at the cluster's own address. */
  url?: string | undefined
  launch?: string | undefined
  /** `away`: its connection broke, and may come back. */
  state: 'starting' | 'ready' | 'leaving' | 'away'
  /** Requests that are not answered yet, and all that it took. */
  inHand: number
  accepted: number
}

interface Joined {
  hello: FrontHello
  session: Session<FromFront, ToFront>
  name: string
  connection: FrontConnection | undefined
  heardAt: number
  jobs: Map<string, FarJob>
  accepted: number
  phase: 'starting' | 'ready' | 'leaving'
  url: string | undefined
  grace: NodeJS.Timeout | undefined
}

export interface JoinedFrontsParts {
  /** Hashes of code, by workload: a front must have the same. */
  code: Readonly<Record<string, string>>
  beatMs: number
  /** A front whose connection broke is given so long to come back before its jobs are given up. */
  graceMs: number
  welcome(): Omit<FrontWelcome, 'type' | 'session' | 'resumed' | 'received' | 'beatMs'>
  isReady(): boolean
  /** What the brain is to know of a request, and how long it took to say what it will cost. */
  factsOf(arrival: Arrival, front: string): { facts: OpenJob['parts']; estimateMs: number }
  quoteOf(asked: Asked): unknown
  /** A job has come, and is to be told to the brain. */
  submit(job: FarJob): void
  tell(event: Event): void
  over(job: OpenJob): void
  log(line: string): void
}

export class JoinedFronts {
  readonly #parts: JoinedFrontsParts
  readonly #joined = new Map<string, Joined>()
  readonly #timer: NodeJS.Timeout
  #wasReady = false

  constructor(parts: JoinedFrontsParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#beat(), parts.beatMs)
  }

  list(): FrontState[] {
    return [...this.#joined.values()].map(({ hello, url, connection, jobs, accepted, phase }) => ({
      id: hello.id,
      pid: hello.pid,
      url,
      launch: hello.launch,
      state: connection ? phase : 'away',
      inHand: jobs.size,
      accepted,
    }))
  }

  /** A front has connected, and says who it is. */
  hello(connection: FrontConnection, hello: FrontHello): void {
    const { code, log, welcome, beatMs } = this.#parts
    const { id } = hello
    const before = this.#joined.get(id)
    const resumed = before !== undefined && before.name === hello.session
    const isTaken = before?.connection && !resumed && !isSame(before.hello, hello)
    const refused = isTaken ? `a front ${id} is here already` : whyNot(hello, code, 'front')
    if (refused) {
      log(`front ${id}: refused: ${refused}`)
      connection.send({ type: 'refused', message: refused })
      connection.close()
      return
    }
    if (before && !resumed) this.#forget(before)
    const front: Joined = resumed ? before : this.#remember(hello)
    if (front.connection) this.#lost(front, front.connection)
    clearTimeout(front.grace)
    front.connection = connection
    front.heardAt = performance.now()
    connection.onMessage = (frame) => this.#frame(front, connection, frame as Frame<FromFront>)
    connection.onClose = () => this.#lost(front, connection)
    const { received } = front.session
    this.refresh()
    connection.send({ type: 'welcome', session: front.name, resumed, received, beatMs, ...welcome() })
    front.session.attach(connection, resumed ? hello.received : 0)
  }

  broadcast(message: ToFront): void {
    for (const { session } of this.#joined.values()) session.send(message)
  }

  send(id: string, message: ToFront): void {
    const front = this.#joined.get(id)
    front?.session.send(message)
    if (front && message.type === 'leave') front.phase = 'leaving'
  }

  /** Its process is known to have ended: its jobs are given up at once. */
  gone(id: string): void {
    const front = this.#joined.get(id)
    if (front) this.#forget(front)
  }

  /** Tells whether workers are ready, if that has changed. */
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

  #remember(hello: FrontHello): Joined {
    const front: Joined = {
      hello,
      session: new Session(),
      name: randomUUID(),
      connection: undefined,
      heardAt: 0,
      jobs: new Map(),
      accepted: 0,
      phase: 'starting',
      url: undefined,
      grace: undefined,
    }
    this.#joined.set(hello.id, front)
    return front
  }

  /** Another connection may have taken its place, or will. */
  #lost(front: Joined, connection: FrontConnection): void {
    connection.onMessage = () => {}
    connection.onClose = () => {}
    connection.cut()
    if (front.connection !== connection) return
    front.connection = undefined
    front.session.detach()
    if (this.#joined.get(front.hello.id) !== front) return
    front.grace = setTimeout(() => {
      this.#parts.log(`front ${front.hello.id}: did not come back: its ${front.jobs.size} jobs are given up`)
      this.#forget(front)
    }, this.#parts.graceMs)
    front.grace.unref()
  }

  /** Nothing is owed to it any more. */
  #forget(front: Joined): void {
    clearTimeout(front.grace)
    this.#joined.delete(front.hello.id)
    front.session.detach()
    if (front.connection) this.#lost(front, front.connection)
    for (const job of [...front.jobs.values()]) job.cancel()
  }

  #frame(front: Joined, connection: FrontConnection, frame: Frame<FromFront>): void {
    front.heardAt = performance.now()
    const message = front.session.take(frame)
    if (message === undefined) return
    try {
      this.#heard(front, message)
    } catch (error) {
      // What it says cannot be understood, and would not be the next time either.
      this.#parts.log(`front ${front.hello.id}: ${(error as Error).message}`)
      this.#forget(front)
      connection.cut()
    }
  }

  #heard(front: Joined, message: FromFront): void {
    switch (message.type) {
      case 'listening':
        front.phase = 'ready'
        front.url = message.url
        return
      case 'arrived':
        return this.#arrived(front, message)
      case 'attempt':
        return front.jobs.get(message.event.job)?.heard(message.event, message.cost)
      case 'cancelled':
        return front.jobs.get(message.job)?.cancel()
      case 'going':
        return front.jobs.get(message.job)?.going(message)
      case 'ask':
        return this.#asked(front, message)
      case 'left':
        return this.#forget(front)
    }
  }

  #asked(front: Joined, { ask, about }: Extract<FromFront, { type: 'ask' }>): void {
    const send = (answer: { quote: unknown } | { problem: ToldProblem }) =>
      front.session.send({ type: 'quote', ask, ...answer })
    try {
      send({ quote: this.#parts.quoteOf(about) })
    } catch (error) {
      send({ problem: this.#wrong(front, error as Error) })
    }
  }

  /** One request cannot be taken: that is no reason to give up the others of its front. */
  #wrong(front: Joined, { message }: Error): ToldProblem {
    this.#parts.log(`front ${front.hello.id}: a request cannot be taken: ${message}`)
    return {
      status: 500,
      code: 'internal',
      message: `The cluster cannot take this request: ${message}.`,
      headers: {},
    }
  }

  #arrived(front: Joined, arrival: Arrival): void {
    const { factsOf, tell, over, submit } = this.#parts
    let known: ReturnType<typeof factsOf>
    try {
      known = factsOf(arrival, front.hello.id)
    } catch (error) {
      const problem = this.#wrong(front, error as Error)
      return front.session.send({ type: 'abandon', job: arrival.job, problem })
    }
    const job = new FarJob({
      ...known,
      send: (message) => front.session.send(message),
      tell,
      over(ended) {
        front.jobs.delete(arrival.job)
        over(ended)
      },
    })
    front.jobs.set(arrival.job, job)
    front.accepted++
    submit(job)
  }

  #beat(): void {
    this.refresh()
    for (const front of this.#joined.values()) {
      if (!front.connection) continue
      if (performance.now() - front.heardAt > silentMs) this.#lost(front, front.connection)
      else front.session.beat()
    }
  }
}

/** True: it is the same front, which has lost what it knew of the conversation. */
function isSame(one: FrontHello, other: FrontHello): boolean {
  return one.pid === other.pid && one.instance === other.instance
}
