/**
 * A front's end of a direct link: small jobs go to a worker over one connection, without the brain. The connection is opened
 * for the first job, and again for a job after it broke.
 */

import { request } from 'node:http'
import type { Socket } from 'node:net'
import { ProtocolError } from '../../lib/errors.ts'
import { passedBuffer } from '../../lib/young-buffers.ts'
import {
  directProtocol,
  type Frame,
  FrameDecoder,
  type GiveBackReason,
  longestAnswerFrame,
} from '../../wire/direct-frames.ts'
import { FrameWriter, fitsLink } from '../../wire/direct-writer.ts'
import type { Address } from '../../wire/front-messages.ts'
import { attemptPath } from '../../wire/messages.ts'
import { secureSocket } from '../../wire/secure.ts'
import { bearer } from '../../wire/token.ts'
import { type DirectAnswer, FrameAnswers, givenBack } from './direct-answer.ts'

/** Time allowed for a connection, and before the next attempt if it failed. */
const connectMs = 5_000
const retryMs = 1_000

export interface DirectCall {
  workload: string
  /** JSON text. */
  params: Uint8Array | string
  /** The id of the job, which the workload sees. */
  job: string
}

export interface WorkerLinkOptions {
  /** Of the worker. */
  id: string
  address: Address
  /** Authorizes fronts at workers. */
  token: string
  log(line: string): void
}

type Done = (answer: DirectAnswer) => void

export class WorkerLink {
  readonly #options: WorkerLinkOptions
  readonly #calls = new Map<number, Done>()
  readonly #flush = () => this.#flushNow()
  readonly #reader = new FrameAnswers()
  #writer = new FrameWriter()
  #lastId = 0
  #state: 'closed' | 'connecting' | 'open' = 'closed'
  #socket: Socket | undefined
  #flushing = false
  /** No attempt to connect before this time. */
  #retryAt = 0
  /** Ends the attempt to connect. */
  #abort: (() => void) | undefined
  #isEnded = false
  #isLeaving = false

  constructor(options: WorkerLinkOptions) {
    this.#options = options
  }

  get id(): string {
    return this.#options.id
  }

  /** True: it connects to this address with this token. */
  leadsTo({ address, token }: Pick<WorkerLinkOptions, 'address' | 'token'>): boolean {
    const { address: known, token: given } = this.#options
    return known.host === address.host && known.port === address.port && given === token
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Jobs without an answer. */
  get pending(): number {
    return this.#calls.size
  }

  /** Sends a job. `done` is called exactly once, and never before this returns. */
  call(job: DirectCall, done: Done): number {
    const id = this.#nextId()
    const refusal = this.#refusal(job)
    if (refusal) {
      process.nextTick(done, givenBack(refusal))
      return id
    }
    this.#calls.set(id, done)
    this.#writer.job(id, job)
    this.#flushSoon()
    return id
  }

  /** The answer is not needed any more. It arrives all the same, or the job is given back as `cancelled`. */
  cancel(id: number): void {
    if (!this.#calls.has(id) || this.#state === 'closed') return
    this.#writer.cancel(id)
    this.#flushSoon()
  }

  /** Jobs that were sent are answered; then the link closes. */
  leave(): void {
    this.#isLeaving = true
    if (this.#calls.size === 0) this.close()
  }

  /** Gives back all jobs. Idempotent. */
  close(): void {
    this.#isEnded = true
    this.#break()
  }

  #refusal(job: DirectCall): GiveBackReason | undefined {
    if (!fitsLink(job)) return 'params'
    if (this.#state !== 'closed') return undefined
    if (this.#isEnded || performance.now() < this.#retryAt) return 'unreachable'
    this.#connect()
    return undefined
  }

  /** Ids are used again after 2^32 calls, when earlier ones have long been answered. */
  #nextId(): number {
    this.#lastId = (this.#lastId + 1) >>> 0
    return this.#lastId
  }

  /** At the end of this turn of the event loop, so that many jobs share a system call. */
  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    setImmediate(this.#flush)
  }

  #flushNow(): void {
    this.#flushing = false
    const socket = this.#socket
    if (this.#state !== 'open' || !socket || this.#writer.bytes === 0) return
    socket.write(this.#writer.take())
    if (socket.writableLength === 0) this.#writer.reuse()
  }

  #connect(): void {
    const { id, address, token, log } = this.#options
    this.#state = 'connecting'
    const { host, port, tls } = address
    const call = request({
      ...{ host, port, path: attemptPath },
      headers: { authorization: bearer(token), connection: 'upgrade', upgrade: directProtocol },
      ...(tls
        ? { createConnection: () => secureSocket({ host, port }, { identity: 'front', token }) }
        : { agent: false }),
    })
    let isCurrent = true
    const failed = (why: string) => {
      if (!isCurrent) return
      isCurrent = false
      call.destroy()
      log(`direct link to worker ${id}: ${why}`)
      this.#retryAt = performance.now() + retryMs
      this.#break()
    }
    this.#abort = () => {
      isCurrent = false
      call.destroy()
    }
    const late = setTimeout(() => failed(`no link within ${connectMs} ms`), connectMs)
    call.once('close', () => clearTimeout(late))
    call.on('error', (error) => failed(error.message))
    call.once('response', ({ statusCode }) => failed(`refused with status ${statusCode}`))
    call.once('upgrade', (_, socket, first) => {
      if (isCurrent) this.#open(socket as Socket, first)
      else socket.destroy()
      isCurrent = false
    })
    call.end()
  }

  #open(socket: Socket, first: Buffer): void {
    this.#state = 'open'
    this.#socket = socket
    this.#abort = undefined
    const decoder = new FrameDecoder(longestAnswerFrame, (frame) => this.#answer(frame))
    const receive = (chunk: Buffer) => {
      passedBuffer(chunk.length)
      try {
        decoder.push(chunk)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        this.#options.log(`direct link to worker ${this.#options.id}: ${error.message}`)
        socket.destroy()
      }
    }
    socket.setNoDelay(true)
    socket.setTimeout(0)
    socket.on('data', receive)
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.on('close', () => this.#socket === socket && this.#break())
    receive(first)
    this.#flushNow()
  }

  #answer(frame: Frame): void {
    const { id } = frame
    const done = this.#calls.get(id)
    if (!done) throw new ProtocolError(`an answer to job ${id}, which is unknown`)
    const answer = this.#reader.read(frame)
    this.#calls.delete(id)
    done(answer)
    if (this.#isLeaving && this.#calls.size === 0) this.close()
  }

  /** Gives back all jobs: whether they ran is unknown, but they are safe to repeat. */
  #break(): void {
    this.#state = 'closed'
    this.#abort?.()
    this.#abort = undefined
    this.#socket?.destroy()
    this.#socket = undefined
    this.#writer = new FrameWriter()
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const done of calls) done(givenBack('unreachable'))
  }
}
