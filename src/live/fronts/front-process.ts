/** One front in a process of its own, seen from the process that started it. */

import type { ChildProcess, SendHandle } from 'node:child_process'
import type { KeeperAddress } from '../../wire/kept.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { endOf, onOutputLine, startProcess } from '../../worker/processes/start-process.ts'
import { servingEnvironment } from '../child-environment.ts'
import type { FromFrontProcess, FrontSettings, ToFrontProcess } from './front-channel.ts'
import type { SeatedFront } from './seat.ts'

/** Time allowed to start listening. */
const startMs = 30_000
/** Time allowed to say how many requests are left. */
const answerMs = 5_000
/** A front that still runs this long after its limit is killed. */
const overdueMs = 60_000

export interface FrontProcessParts {
  id: string
  generation: number
  /** `--shared --launch ID` is appended. */
  command: readonly string[]
  /** The socket on which it listens. */
  socket(): SendHandle
  /** Default: `startProcess`. */
  start?: typeof startProcess | undefined
  /** It listens. */
  changed(): void
  /** A request is to be kept. */
  wantsKeeper?(): void
  /** It accepts requests of the keeper at another port, or no more. */
  keptPortChanged?(): void
  log(line: string): void
}

export class FrontProcess implements SeatedFront {
  readonly id: string
  readonly generation: number
  readonly began = performance.now()
  readonly exited: Promise<void>
  /** Rejects if it ends first. */
  readonly listening: Promise<void>
  /** Resolves with the number of requests that a front which leaves still has to finish. */
  readonly finishing: Promise<number>
  readonly #finishing = Promise.withResolvers<number>()
  state: SeatedFront['state'] = 'starting'
  /** Undefined: it waits for them. */
  settings: FrontSettings | undefined
  /** Where it accepts requests of the keeper. */
  keptPort: number | undefined
  readonly #process: ChildProcess
  readonly #log: (line: string) => void
  readonly #timers: NodeJS.Timeout[] = []
  #lastLine = ''

  constructor(parts: FrontProcessParts) {
    const { id, generation, command, start = startProcess } = parts
    this.id = id
    this.generation = generation
    this.#log = parts.log
    this.#process = start([...deathSignal(), ...command, '--shared', '--launch', id], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // In its own process group: Ctrl-C must let the cluster finish its requests first.
      detached: true,
      env: servingEnvironment(),
    })
    this.#readOutput()
    const listening = Promise.withResolvers<void>()
    // Nobody may await it.
    listening.promise.catch(() => {})
    this.listening = listening.promise
    this.finishing = this.#finishing.promise
    this.#process.on('message', (message: FromFrontProcess) => {
      if (message.type === 'wants-port') this.#send({ type: 'port' }, parts.socket())
      else if (message.type === 'leaving') this.#finishing.resolve(message.requests)
      else if (message.type === 'wants-keeper') parts.wantsKeeper?.()
      else if (message.type === 'for-keeper') this.#acceptsAt(message.port, parts)
      else if (this.state === 'starting') {
        this.state = 'listening'
        this.#clearTimers()
        listening.resolve()
        parts.changed()
      }
    })
    this.#process.on('error', ({ message }) => {
      if (this.#process.pid === undefined) this.#lastLine = `: ${message}`
    })
    this.exited = endOf(this.#process)
    void this.exited.then(() => {
      this.#clearTimers()
      listening.reject(new Error(`front ${id} did not start${this.#lastLine}`))
      this.#finishing.resolve(0)
    })
  }

  /** How it ended, for the log. */
  get lastLine(): string {
    return this.#lastLine
  }

  begin(settings: FrontSettings): void {
    this.settings = settings
    this.#send({ type: 'begin', ...settings })
    this.#timers.push(setTimeout(() => this.kill('SIGKILL'), startMs))
  }

  tellKeeper(address: KeeperAddress | undefined): void {
    this.#send({ type: 'keeper', ...(address && { address }) })
  }

  leave(limitMs: number): void {
    this.state = 'leaving'
    this.#send({ type: 'leave', limitMs })
    const silent = setTimeout(() => this.#finishing.resolve(0), answerMs)
    const overdue = setTimeout(() => this.kill('SIGKILL'), limitMs + overdueMs)
    overdue.unref()
    this.#timers.push(silent, overdue)
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  #acceptsAt(port: number | undefined, { keptPortChanged }: FrontProcessParts): void {
    this.keptPort = port
    keptPortChanged?.()
  }

  /** It may have ended: then its end is reported by `exited`. */
  #send(message: ToFrontProcess, handle?: SendHandle): void {
    if (this.#process.connected) this.#process.send(message, handle, () => {})
  }

  #clearTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  #readOutput(): void {
    onOutputLine(this.#process, (line) => {
      if (line.trim() !== '') this.#lastLine = `: ${line.trim()}`
      this.#log(line.startsWith('front') ? line : `front ${this.id}: ${line}`)
    })
  }
}
