/** A virtual front process: the real link to the brain, pending requests and exchanges, with virtual clients. */

import type { Duplex } from 'node:stream'
import { RequestProblem } from '../../src/front/problem.ts'
import type { Receiver } from '../../src/front/receiver.ts'
import type { AttemptEnd, Carried, Transport } from '../../src/front/transports/transport.ts'
import { BrainLink } from '../../src/live/fronts/brain-link.ts'
import { KnownWorkers } from '../../src/live/fronts/known-workers.ts'
import { PendingRequests } from '../../src/live/fronts/pending-requests.ts'
import type { AttemptToken } from '../../src/model/attempt.ts'
import type { Job } from '../../src/model/job.ts'
import type { ToFront } from '../../src/wire/front-messages.ts'
import { type Line, lines } from '../../src/wire/lines.ts'
import type { AttemptHead } from '../../src/wire/messages.ts'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess } from './time.ts'
import type { JobParams, VirtualAnswer } from './worker-process.ts'

export interface FrontProcessParts {
  process: VirtualProcess
  network: VirtualNetwork
  brainAddress: string
  id: string
  pid: number
  holdMs: number
  now(): number
  /** The brain does not let it join: it ends. */
  refused(): void
  /** It sends an attempt to a port. */
  sent(token: AttemptToken, port: number): void
  /** An attempt cannot be sent. */
  notSent(token: AttemptToken): void
  /** An attempt that cannot be sent is superseded at the same moment: nobody need be told of it. */
  superseded(token: AttemptToken): void
  log(line: string): void
}

/** What sending an attempt may throw, besides errors of the network. */
export const sendErrors: readonly (() => unknown)[] = [
  () => new RangeError('Invalid string length'),
  () => Object.assign(new Error('open EMFILE'), { code: 'EMFILE' }),
  () => 'a text',
  () => undefined,
]

/** How a request ended for its client. */
export type Ending =
  | { kind: 'result'; value: number }
  | { kind: 'problem'; status: number; code: string }
  | { kind: 'broken' }

export interface VirtualRequest {
  params: JobParams
  job: Job
  ended(ending: Ending): void
}

export class FrontProcess {
  readonly #parts: FrontProcessParts
  readonly #workers = new KnownWorkers()
  readonly #link: BrainLink
  readonly #pending: PendingRequests
  /** Of clients that wait. A job that starts over gets another id. */
  readonly #asked = new Set<Job>()
  #unsent: { token: AttemptToken; at: number } | undefined
  #sendError: (() => unknown) | undefined

  constructor(parts: FrontProcessParts) {
    this.#parts = parts
    const { process, network, brainAddress, id, pid, holdMs, now, log } = parts
    const link = () => this.#link
    this.#pending = new PendingRequests({ workers: this.#workers, holdMs, now, link, log })
    this.#link = new BrainLink({
      join: new URL('http://virtual'),
      token: '',
      hello: { id, pid, instance: `${id}-${pid}`, code: {} },
      connect: async (_join, _token, onMessage, onClose) =>
        lines(await network.connect(process, brainAddress), onMessage, onClose),
      onWelcome: (welcome) => {
        if (!welcome.resumed) this.#workers.replace(welcome.workers)
        this.#pending.welcomed(welcome)
      },
      onMessage: (message) => this.#receive(message),
      onLost: () => this.#pending.lost(),
      onRefused: () => parts.refused(),
    })
    this.#open()
  }

  /** Makes sending the next attempt throw. */
  breakSending(error: number): void {
    this.#sendError = sendErrors[error]
  }

  /** Forgets the address of a worker, as if the brain had never announced it. */
  forget(worker: string): void {
    this.#workers.remove(worker)
  }

  /** Sends a request. Returns how the client disconnects. */
  request({ params, job, ended }: VirtualRequest): () => void {
    this.#asked.add(job)
    const receiver = new VirtualClient((ending) => {
      this.#asked.delete(job)
      ended(ending)
    })
    const connect = (token: AttemptToken, port: number) => this.#connect(token, port)
    const transport = new VirtualTransport(connect, params, receiver)
    const { workload } = job
    const question = { workload, codeHash: '', key: `${params.request}`, params, features: {} }
    const quote = { ...job, low: job.low ?? 0, high: job.high ?? 0, source: 'constant', reason: { code: '' } }
    try {
      this.#pending.submit({
        ...{ job, question, transport, receiver, estimateMs: 0, exposeErrors: false, hasBody: false },
        quote: quote as never,
        params: { ...params },
      })
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      receiver.refuse(error)
    }
    return () => {
      this.#asked.delete(job)
      receiver.disconnect()
    }
  }

  async #connect(token: AttemptToken, port: number): Promise<Duplex> {
    const { process, network, sent, notSent, now } = this.#parts
    const error = this.#sendError
    this.#sendError = undefined
    if (error) {
      notSent(token)
      this.#unsent = { token, at: now() }
      throw error()
    }
    sent(token, port)
    return await network.connect(process, `:${port}`)
  }

  /** As the supervisor of a front does: a brain that is not there yet is tried again. */
  #open(): void {
    this.#link.open().catch(() => setTimeout(() => this.#open(), 100))
  }

  /** What comes at the same moment was sent before the brain could know of the failure. */
  #supersede(message: ToFront): void {
    const unsent = this.#unsent
    if (!unsent || !('job' in message) || message.job !== unsent.token.job) return
    if (message.type !== 'go' && unsent.at === this.#parts.now()) this.#parts.superseded(unsent.token)
  }

  #receive(message: ToFront): void {
    this.#supersede(message)
    const isOpen = message.type === 'run' && [...this.#asked].some(({ id }) => id === message.job)
    if (isOpen && !this.#workers.get(message.worker)) this.#parts.notSent(message)
    if (message.type === 'worker') this.#workers.add(message.id, message.address)
    else if (message.type === 'worker-gone') this.#workers.remove(message.id)
    else if (
      message.type === 'run' ||
      message.type === 'go' ||
      message.type === 'let-go' ||
      message.type === 'answer' ||
      message.type === 'abandon'
    )
      this.#pending.receive(message)
  }
}

class VirtualClient implements Receiver {
  readonly takesStreams = false
  readonly #ended: (ending: Ending) => void
  readonly #gone: (() => void)[] = []

  constructor(ended: (ending: Ending) => void) {
    this.#ended = ended
  }

  disconnect(): void {
    for (const tell of this.#gone) tell()
  }

  mayHold(): boolean {
    return true
  }

  onGone(then: () => void): void {
    this.#gone.push(then)
  }

  deliver({ body }: { body: Buffer }): void {
    this.#ended({ kind: 'result', value: Number(body) })
  }

  refuse({ status, code }: RequestProblem): void {
    this.#ended({ kind: 'problem', status, code })
  }

  breakOff(): void {
    this.#ended({ kind: 'broken' })
  }

  begin(): never {
    throw new Error('virtual answers are never streamed')
  }

  attempted(): void {}
  closeAfterwards(): void {}
}

class VirtualTransport implements Transport {
  readonly #connect: (token: AttemptToken, port: number) => Promise<Duplex>
  readonly #receiver: VirtualClient
  readonly #params: JobParams
  readonly begun = false
  #value: number | undefined

  constructor(
    connect: (token: AttemptToken, port: number) => Promise<Duplex>,
    params: JobParams,
    receiver: VirtualClient,
  ) {
    this.#connect = connect
    this.#receiver = receiver
    this.#params = params
  }

  async carry({ upstream, order, signal, isCurrent }: Carried): Promise<AttemptEnd | undefined> {
    const socket = await this.#connect(order, upstream.address.port)
    const answer = Promise.withResolvers<VirtualAnswer>()
    const line: Line<AttemptHead> = lines<VirtualAnswer, AttemptHead>(socket, answer.resolve, () =>
      answer.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
    )
    signal.addEventListener('abort', () => line.cut(), { once: true })
    if (signal.aborted) line.cut()
    line.send({ ...order, params: this.#params })
    const { outcome, message = '', value, cpuMs = 0 } = await answer.promise
    if (!isCurrent()) return undefined
    if (outcome !== 'result') return { outcome, message, status: 500 }
    this.#value = value
    return { outcome, cost: { work: cpuMs * 1000, cpuMs, wallMs: cpuMs, peakMemoryMb: 1 } as never }
  }

  deliver(): void {
    this.#receiver.deliver({ body: Buffer.from(`${this.#value}`) })
  }
}
