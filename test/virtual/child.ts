/** A child process as its parent sees it, with the channel between them. */

import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { VirtualProcess, VirtualTime } from './time.ts'

/** Time that a message takes. */
const messageMs = 0.1

export interface ChildParts {
  time: VirtualTime
  parent: VirtualProcess
  process: VirtualProcess
  pid: number
  kill(): void
}

export class VirtualChild extends EventEmitter {
  readonly #parts: ChildParts
  readonly pid: number
  connected = true
  exitCode: number | null = null
  signalCode: string | null = null
  /** Set by the child. */
  receive: (message: never, handle: unknown) => void = () => {}

  constructor(parts: ChildParts) {
    super()
    this.#parts = parts
    this.pid = parts.pid
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
      this.emit('exit', code, this.signalCode)
      this.emit('close', code, this.signalCode)
    })
  }

  asChild(): ChildProcess {
    return this as unknown as ChildProcess
  }
}
