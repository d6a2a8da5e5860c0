/**
 * The keeper's process, seen from the supervisor: started when there are jobs or the first request is to be kept, and again
 * whenever it ends.
 */

import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { KeeperPlace } from '../../wire/kept.ts'
import { newToken } from '../../wire/token.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { endOf, onOutputLine, type startProcess } from '../../worker/processes/start-process.ts'
import { servingEnvironment } from '../child-environment.ts'
import type { FromKeeper, KeeperSettings, ToKeeper } from './messages.ts'

export interface KeeperSeatParts {
  /** The command that starts it. */
  command: readonly string[]
  start: typeof startProcess
  /** Where it is; undefined: it has ended. */
  changed(place: KeeperPlace | undefined): void
  /** It has the lease of a shared store for this term; undefined: another cluster has it. */
  led(term: number | undefined): void
  log(line: string): void
}

/** Backoff of restarts; it resets for a keeper that lasted `soonMs`. */
const [firstWaitMs, longestWaitMs, soonMs] = [250, 30_000, 10_000]

export class KeeperSeat {
  readonly #parts: KeeperSeatParts
  readonly #token = newToken()
  #settings: KeeperSettings | undefined
  #process: ChildProcess | undefined
  #ports: readonly number[] = []
  #isWanted = false
  #waitMs = firstWaitMs
  #timer: NodeJS.Timeout | undefined
  #closed = false
  /** A keeper has used the store: the next one continues it, and leaves the lease to nobody. */
  #hasListened = false
  place: KeeperPlace | undefined

  constructor(parts: KeeperSeatParts) {
    this.#parts = parts
  }

  /** Jobs of an earlier cluster go on at once. */
  use(settings: KeeperSettings | undefined): void {
    this.#settings = settings
    if (!settings) return
    if (this.#process) this.#send({ type: 'begin', settings, token: this.#token })
    else if (this.#isWanted || settings.store.includes('://') || existsSync(settings.store)) this.want()
  }

  /** A request is to be kept. */
  want(): void {
    this.#isWanted = true
    if (!this.#process && !this.#timer && this.#settings && !this.#closed) this.#start(this.#settings)
  }

  fronts(ports: readonly number[]): void {
    this.#ports = ports
    this.#send({ type: 'fronts', ports })
  }

  /** Resolves when it has ended. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const keeper = this.#process
    if (!keeper) return
    keeper.kill('SIGTERM')
    const force = setTimeout(() => keeper.kill('SIGKILL'), graceMs)
    await endOf(keeper)
    clearTimeout(force)
  }

  #start(settings: KeeperSettings): void {
    const { command, start, log } = this.#parts
    const began = performance.now()
    const keeper = start([...deathSignal(), ...command], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // In its own process group: Ctrl-C must let the cluster finish its requests first.
      detached: true,
      env: servingEnvironment(),
    })
    this.#process = keeper
    let lastLine = ''
    onOutputLine(keeper, (line) => {
      lastLine = `: ${line.trim()}`
      log(line.startsWith('keeper') ? line : `keeper: ${line}`)
    })
    keeper.on('error', ({ message }) => {
      lastLine = `: ${message}`
    })
    keeper.on('message', (message: FromKeeper) => {
      if (message.type === 'term') return this.#parts.led(message.term)
      const { type: _, ...ports } = message
      this.#hasListened = true
      this.place = { ...ports, token: this.#token }
      this.#parts.changed(this.place)
    })
    void endOf(keeper).then(() => this.#ended(performance.now() - began, lastLine))
    const standby = settings.standby && !this.#hasListened
    this.#send({ type: 'begin', settings: { ...settings, standby }, token: this.#token })
    this.#send({ type: 'fronts', ports: this.#ports })
  }

  #ended(lastedMs: number, lastLine: string): void {
    this.#process = undefined
    this.place = undefined
    this.#parts.changed(undefined)
    if (this.#closed) return
    if (lastedMs > soonMs) this.#waitMs = firstWaitMs
    this.#parts.log(`keeper: ended, and is restarted in ${this.#waitMs / 1000} s${lastLine}`)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.want()
    }, this.#waitMs)
    this.#waitMs = Math.min(longestWaitMs, this.#waitMs * 2)
  }

  #send(message: ToKeeper): void {
    if (this.#process?.connected) this.#process.send(message, undefined, {}, () => {})
  }
}
