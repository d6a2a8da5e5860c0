/** A virtual front process: all real code of a front, on virtual connections. */

import type { Server } from 'node:http'
import { WireError } from '../../src/lib/errors.ts'
import type {
  FromFrontProcess,
  FrontSettings,
  SharedPort,
  ToFrontProcess,
} from '../../src/live/fronts/front-channel.ts'
import type { FrontEffects, FrontOptions } from '../../src/live/fronts/front-options.ts'
import { serveFront } from '../../src/live/fronts/run-front.ts'
import type { AttemptToken } from '../../src/model/attempt.ts'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from '../../src/wire/front-messages.ts'
import { JoinAddresses } from '../../src/wire/join-addresses.ts'
import { type Line, lines } from '../../src/wire/lines.ts'
import type { Frame } from '../../src/wire/session.ts'
import type { VirtualNetwork } from './network.ts'
import { virtualThreads } from './params-thread.ts'
import type { SeatHandle, VirtualPort } from './port.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'
import { virtualUpstreams } from './upstream.ts'
import { virtualWorkload, workloadName } from './workload.ts'

/** How long requests are held without a brain, and how long a front that is not replaced takes to leave. */
const [holdMs, leaveMs] = [60_000, 5_000]

export interface FrontProcessParts {
  process: VirtualProcess
  time: VirtualTime
  network: VirtualNetwork
  port: VirtualPort
  brainAddress: string
  id: string
  /** To the supervisor. */
  tell(message: FromFrontProcess): void
  exit(code: number): void
  /** An attempt is sent to a port. */
  sent(token: AttemptToken, port: number): void
  /** An attempt cannot be sent. */
  notSent(token: AttemptToken): void
  /** Nobody need be told of attempts of this job any more. */
  over(job: string): void
  failed(why: string): void
  /** True: the system starts no thread now. */
  failsThread(): boolean
  log(line: string): void
}

/** What sending an attempt may throw, besides errors of the network. */
export const sendErrors: readonly (() => unknown)[] = [
  () => new RangeError('Invalid string length'),
  () => Object.assign(new Error('open EMFILE'), { code: 'EMFILE' }),
  () => 'a text',
  () => undefined,
]

type In = FrontWelcome | { type: 'refused'; message: string } | Frame<ToFront>
type Out = FrontHello | Frame<FromFront>

export class FrontProcess {
  readonly #parts: FrontProcessParts
  readonly id: string
  settings: FrontSettings | undefined
  isListening = false
  isLeaving = false
  #leave: (limitMs: number) => void = () => {}
  #listen: (handle: SeatHandle) => void = () => {}
  #sendError: (() => unknown) | undefined
  /** Jobs that the brain knows. */
  readonly #open = new Set<string>()
  /** True: it misses the next announcement of a worker. */
  #misses = false
  #wasWelcomed = false
  readonly #missed = new Set<string>()

  constructor(parts: FrontProcessParts) {
    this.#parts = parts
    this.id = parts.id
  }

  get process(): VirtualProcess {
    return this.#parts.process
  }

  receive(message: ToFrontProcess, handle: unknown): void {
    if (message.type === 'begin') this.#begin(message)
    else if (message.type === 'port') this.#listen(handle as SeatHandle)
    else if (message.type === 'leave') {
      this.isLeaving = true
      this.#leave(message.limitMs)
    }
  }

  /** Makes sending the next attempt throw. */
  breakSending(error: number): void {
    this.#sendError = sendErrors[error]
  }

  /** Makes it miss the next announcement of a worker. */
  missAnnouncement(): void {
    this.#misses = true
  }

  #begin(settings: FrontSettings): void {
    const { id, time, log, exit, failed } = this.#parts
    this.settings = settings
    const workloads = new Map([[workloadName, virtualWorkload(time)]])
    const options: FrontOptions = {
      ...{
        id,
        join: new JoinAddresses([new URL('http://virtual')]),
        token: '',
        launch: id,
        host: '',
        port: 0,
        files: [],
        log,
      },
      ...{ holdMs, leaveMs, share: this.#share(), effects: this.#effects() },
    }
    const code = { [workloadName]: '' }
    const serving = { files: [], workloads, joining: code, code, meter: 'off' } as const
    serveFront(options, serving, new AbortController().signal).then(
      () => exit(0),
      (error) => {
        if (!(error instanceof WireError)) failed(`front ${id} ended with ${(error as Error).stack}`)
        exit(1)
      },
    )
  }

  #share(): SharedPort {
    const { process, port, tell } = this.#parts
    return {
      listen: (server: Server) =>
        new Promise((resolve) => {
          this.#listen = (handle) => {
            port.listen(handle, process, server)
            this.isListening = true
            tell({ type: 'listening' })
            resolve()
          }
          tell({ type: 'wants-port' })
        }),
      onLeave: (leave) => {
        this.#leave = leave
      },
      leaving: (requests) => tell({ type: 'leaving', requests }),
    }
  }

  #effects(): FrontEffects {
    const { process, network, time, failsThread } = this.#parts
    const workloads = new Map([[workloadName, virtualWorkload(time)]])
    return {
      connect: ((_join: URL, _as: unknown, onMessage: (message: In) => void, onClose: () => void) =>
        this.#connect(onMessage, onClose)) as FrontEffects['connect'],
      upstreamAt: virtualUpstreams({
        ...{ process, network },
        sending: (token, port) => this.#sending(token, port),
      }),
      startThread: virtualThreads(time, process, workloads, failsThread),
      resources: { read: () => ({}), close() {} },
    }
  }

  async #connect(onMessage: (message: In) => void, onClose: () => void): Promise<Line<Out>> {
    const { network, process, brainAddress } = this.#parts
    const socket = await network.connect(process, brainAddress)
    const line = lines<In, Out>(socket, (message) => onMessage(this.#observed(message)), onClose)
    return { ...line, send: (message) => line.send(this.#sent(message)) }
  }

  #sending(token: AttemptToken, port: number): void {
    const { sent, notSent } = this.#parts
    const error = this.#sendError
    this.#sendError = undefined
    if (error) {
      notSent(token)
      throw error()
    }
    sent(token, port)
  }

  #sent(message: Out): Out {
    const told = 'm' in message ? message.m : undefined
    if (told?.type === 'arrived') this.#open.add(told.job)
    if (told?.type === 'cancelled') this.#over(told.job)
    return message
  }

  /** As the front receives it: an announcement that it misses is one that the worker has gone. */
  #observed(message: In): In {
    if ('type' in message) {
      if (message.type !== 'welcome' || message.resumed) return message
      for (const job of [...this.#open]) this.#over(job)
      this.#missed.clear()
      const [first, ...others] = message.workers
      // Later, it knows the worker from the brain before.
      const knows = this.#wasWelcomed
      this.#wasWelcomed = true
      if (!this.#misses || !first || knows) return message
      this.#miss(first.id)
      return { ...message, workers: others }
    }
    const told = message.m
    if (told?.type === 'worker' && this.#misses) {
      this.#miss(told.id)
      return { ...message, m: { type: 'worker-gone', id: told.id } }
    }
    // An attempt of the same moment is given up.
    if (told?.type === 'run') this.#parts.over(told.job)
    if (told?.type === 'worker' || told?.type === 'worker-gone') this.#missed.delete(told.id)
    else if (told?.type === 'run' && this.#missed.has(told.worker) && this.#open.has(told.job))
      this.#parts.notSent(told)
    else if (told && 'job' in told && told.type !== 'run' && told.type !== 'go')
      this.#over(told.job, told.type)
    return message
  }

  #miss(worker: string): void {
    this.#misses = false
    this.#missed.add(worker)
  }

  #over(job: string, how = 'cancelled'): void {
    if (how !== 'let-go') this.#open.delete(job)
    this.#parts.over(job)
  }
}
