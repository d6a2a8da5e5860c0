/** Where fronts open direct links: each sends small jobs, and receives their answers, in frames on one connection. */
import type { Socket } from 'node:net'
import { ProtocolError } from '../../lib/errors.ts'
import {
  directProtocol,
  type Frame,
  FrameDecoder,
  type GiveBackReason,
  kinds,
  longestJobFrame,
} from '../../wire/direct-frames.ts'
import { FrameWriter } from '../../wire/direct-writer.ts'
import { EndOfTurn } from './end-of-turn.ts'
import { SmallJobs, type SmallJobsOptions } from './small-jobs.ts'
import type { Caller } from './small-slot.ts'

/** A front that reads its answers so slowly is not read from. */
const mostUnread = 4 * 1024 * 1024

export class DirectDoor {
  readonly jobs: SmallJobs
  readonly #endOfTurn = new EndOfTurn()
  readonly #links = new Set<DirectLink>()

  constructor(options: Omit<SmallJobsOptions, 'endOfTurn'>) {
    this.jobs = new SmallJobs({ ...options, endOfTurn: this.#endOfTurn })
  }

  /** Switches a connection to frames. `first`: bytes that have already arrived. */
  open(socket: Socket, first: Buffer): void {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${directProtocol}\r\n\r\n`,
    )
    const link = new DirectLink(socket, this.jobs, this.#endOfTurn)
    this.#links.add(link)
    socket.on('close', () => this.#links.delete(link))
    link.receive(first)
  }

  /** Ends all links and slots. */
  close(): void {
    this.jobs.close()
    for (const link of this.#links) link.close()
  }
}

class DirectLink implements Caller {
  readonly #socket: Socket
  readonly #jobs: SmallJobs
  readonly #endOfTurn: EndOfTurn
  readonly #writer = new FrameWriter()
  readonly #decoder = new FrameDecoder(longestJobFrame, (frame) => this.#frame(frame))

  constructor(socket: Socket, jobs: SmallJobs, endOfTurn: EndOfTurn) {
    this.#socket = socket
    this.#jobs = jobs
    this.#endOfTurn = endOfTurn
    socket.setTimeout(0)
    socket.on('data', (chunk: Buffer) => this.receive(chunk))
    socket.on('drain', () => socket.resume())
    socket.on('end', () => socket.destroy())
    socket.on('close', () => jobs.forget(this))
  }

  /** A malformed frame closes the connection. */
  receive(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.close()
    }
  }

  answer(id: number, frame: Frame): void {
    this.#writer.pass(frame, id)
    this.#endOfTurn.add(this)
  }

  giveBack(id: number, reason: GiveBackReason): void {
    this.#writer.giveBack(id, reason)
    this.#endOfTurn.add(this)
  }

  flush(): void {
    const frames = this.#writer.take()
    if (!this.#socket.writable) return
    this.#socket.write(frames)
    const { writableLength } = this.#socket
    if (writableLength === 0) this.#writer.reuse()
    if (writableLength > mostUnread) this.#socket.pause()
  }

  close(): void {
    this.#socket.destroy()
  }

  #frame(frame: Frame): void {
    if (frame.kind === kinds.job) {
      frame.checkJob()
      this.#jobs.take(this, frame)
    } else if (frame.kind === kinds.cancel) this.#jobs.cancel(this, frame.id)
    else throw new ProtocolError(`a frame of kind ${frame.kind} from a front`)
  }
}
