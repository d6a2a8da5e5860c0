/**
 * A fleet that can start a spare worker ahead of need, so that a replacement is up before the worker it replaces drains.
 * The next launch is given the spare; until then the spare is visible to nobody.
 */

import type { Listed, Provider, ProviderEvents } from '../../model/provider.ts'
import { workerNameOf } from '../../model/worker.ts'

export interface SpareFleet extends Provider {
  /**
   * Starts a spare worker under a name of its own. Resolves when it connects; rejects with its output if it has not
   * within `limitMs`. `isReserved`: no launch is given to it before `release`.
   */
  prepare(name: string, limitMs: number, isReserved?: boolean): Promise<void>
  /** Launches may be given to a reserved spare worker from now on. */
  release(): void
  /** True: a spare worker is connected. */
  hasSpare(): boolean
  /** True: this launch is the name of the spare worker. */
  isSpare(launch: string | undefined): boolean
  /** The spare worker has connected: `admit` is called when a launch is given to it. */
  hold(admit: (launch: string, bootMs: number) => void): void
  /** The spare worker has connected and may not join: ends it. */
  refuse(why: string): void
  /** The launch under which the worker of a launch was started: another one, if it was a spare. */
  startedAs(launch: string): string
  /** Ends a spare worker that no launch asked for. True: there was one. */
  drop(): boolean
}

interface Spare {
  name: string
  began: number
  up: PromiseWithResolvers<void>
  /** For connecting. */
  limit: NodeJS.Timeout
  isReserved: boolean
  /** Set once it has connected. */
  admit?: (launch: string) => void
}

export function spareFleet(open: (events: ProviderEvents) => Provider, events: ProviderEvents): SpareFleet {
  return new FleetWithSpare(open, events)
}

/** A spare worker did not start. */
export class SpareFailed extends Error {
  /** The last lines that it printed. */
  readonly output: string | undefined
  constructor(message: string, output?: string) {
    super(message)
    this.output = output
  }
}

class FleetWithSpare implements SpareFleet {
  readonly #fleet: Provider
  /** Launches by the names of the spare workers they were given, and the reverse. */
  readonly #launchOf = new Map<string, string>()
  readonly #nameOf = new Map<string, string>()
  #spare: Spare | undefined
  #closed = false

  constructor(open: (events: ProviderEvents) => Provider, events: ProviderEvents) {
    this.#fleet = open({
      launchFailed: (name, message, output) => {
        if (this.isSpare(name)) this.#fail(message, output)
        else this.#ended(name, message, events.launchFailed)
      },
      gone: (name, message) => this.#ended(name, message, events.gone),
    })
  }

  launch(launch: string): void {
    if (!this.#spare?.admit || this.#spare.isReserved) return this.#fleet.launch(launch)
    const { name, admit } = this.#spare
    this.#spare = undefined
    this.#launchOf.set(name, launch)
    this.#nameOf.set(launch, name)
    admit(launch)
  }

  joined(launch: string): void {
    this.#fleet.joined(this.#nameOf.get(launch) ?? launch)
  }

  async list(): Promise<readonly Listed[]> {
    const all = await this.#fleet.list()
    return all
      .filter(({ launch }) => launch !== this.#spare?.name)
      .map((listed) => ({ ...listed, launch: this.#launchOf.get(listed.launch) ?? listed.launch }))
  }

  terminate(launch: string, graceMs?: number): void {
    this.#fleet.terminate(this.#nameOf.get(launch) ?? launch, graceMs)
  }

  close(): Promise<void> {
    this.#closed = true
    this.#fail('the fleet is closed')
    return this.#fleet.close()
  }

  release(): void {
    if (this.#spare) this.#spare.isReserved = false
  }

  hasSpare(): boolean {
    return this.#spare?.admit !== undefined
  }

  prepare(name: string, limitMs: number, isReserved = false): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the fleet is closed'))
    const up = Promise.withResolvers<void>()
    const limit = setTimeout(() => {
      if (this.isSpare(name)) this.#end(`did not join within ${limitMs / 1000} s`)
    }, limitMs)
    this.#spare = { name, up, limit, isReserved, began: performance.now() }
    this.#fleet.launch(name)
    return up.promise
  }

  isSpare(launch: string | undefined): boolean {
    return this.#spare !== undefined && this.#spare.name === launch
  }

  hold(admit: (launch: string, bootMs: number) => void): void {
    const spare = this.#spare
    if (!spare) return
    const bootMs = Math.round(performance.now() - spare.began)
    spare.admit = (launch) => admit(launch, bootMs)
    clearTimeout(spare.limit)
    spare.up.resolve()
  }

  startedAs(launch: string): string {
    return this.#nameOf.get(launch) ?? launch
  }

  refuse(why: string): void {
    this.#end(`refused: ${why}`)
  }

  drop(): boolean {
    return this.#end('no launch asked for it')
  }

  /** A process of the fleet has ended. */
  #ended(name: string, message: string, tell: (launch: string, message: string) => void): void {
    if (this.isSpare(name)) return void this.#fail(message)
    const launch = this.#launchOf.get(name) ?? name
    this.#launchOf.delete(name)
    this.#nameOf.delete(launch)
    tell(launch, message)
  }

  #end(why: string): boolean {
    const name = this.#fail(why)
    if (name !== undefined) this.#fleet.terminate(name)
    return name !== undefined
  }

  /** Gives up the spare worker; its name, if there was one. */
  #fail(message: string, output?: string): string | undefined {
    if (!this.#spare) return undefined
    const { name, up, limit } = this.#spare
    this.#spare = undefined
    clearTimeout(limit)
    up.reject(new SpareFailed(`worker ${workerNameOf(name)}: ${message}`, output))
    return name
  }
}
