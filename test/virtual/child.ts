/** A child process as its parent sees it, with the channel between them. */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { type SpawnErrorCode, spawnError, spawnErrors } from './spawn-failures.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'

/** Time that a message takes. */
const messageMs = 0.1

export interface ChildParts {
  time: VirtualTime
  parent: VirtualProcess
  process: VirtualProcess
  pid: number
  /** Its standard input, output and errors, as far as they are pipes. */
  stdio: StdioOptions | undefined
  /** Set: the system refuses to start it. */
  failure: SpawnErrorCode | undefined
  kill(): void
}

export class VirtualChild extends EventEmitter {
  readonly #parts: ChildParts
  readonly pid: number | undefined
  readonly stdin: Writable | null | undefined
  readonly stdout: Readable | null | undefined
  readonly stderr: Readable | null | undefined
  connected = true
  exitCode: number | null = null
  signalCode: string | null = null
  /** Set by the child. */
  receive: (message: never, handle: unknown) => void = () => {}

  constructor(parts: ChildParts) {
    super()
    this.#parts = parts
    const { pid, stdio, failure } = parts
    const hasStreams = !failure || spawnErrors[failure].streams
    this.pid = failure ? undefined : pid
    if (hasStreams) {
      const isPipe = (n: number) => stdio?.[n] === 'pipe'
      this.stdin = isPipe(0) ? new Writable({ write: (_chunk, _encoding, done) => done() }) : null
      this.stdout = isPipe(1) ? new Readable({ read() {} }) : null
      this.stderr = isPipe(2) ? new Readable({ read() {} }) : null
    }
    this.connected = hasStreams
    if (failure) process.nextTick(() => this.#fail(failure))
  }

  /** To the child. */
  send(message: unknown, handle?: unknown): boolean {
    const { time, process } = this.#parts
    time.schedule(time.now + messageMs, 'input', process, () => this.receive(message as never, handle))
    return true
  }

  /** To the parent. */
  tell(message: unknown): void {
    const { time, parent } = this.#parts
    time.schedule(time.now + messageMs, 'input', parent, () => void this.emit('message', message))
  }

  kill(): boolean {
    this.#parts.kill()
    return true
  }

  /** The parent learns that it has ended. */
  ended(code: number | null): void {
    const { time, parent } = this.#parts
    time.schedule(time.now + messageMs, 'input', parent, () => {
      this.connected = false
      this.exitCode = code
      this.signalCode = code === null ? 'SIGKILL' : null
      for (const output of [this.stdout, this.stderr]) output?.push(null)
      this.emit('exit', code, this.signalCode)
      this.emit('close', code, this.signalCode)
    })
  }

  /** As Node does, which gives it an exit code below 0. */
  #fail(failure: SpawnErrorCode): void {
    this.exitCode = -1
    this.connected = false
    this.emit('error', spawnError(failure))
    for (const output of [this.stdout, this.stderr]) output?.push(null)
    process.nextTick(() => this.emit('close', this.exitCode, null))
  }

  asChild(): ChildProcess {
    return this as unknown as ChildProcess
  }
}
