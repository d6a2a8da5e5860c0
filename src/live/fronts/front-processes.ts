/** The front processes of a cluster: started, restarted when they end, and replaced one at a time. */

import type { KeeperAddress } from '../../wire/kept.ts'
import type { BoundSocket } from './bound-socket.ts'
import type { FrontSettings } from './front-channel.ts'
import { FrontProcess, type FrontProcessParts } from './front-process.ts'
import { seatSteps, wantedAfterFailure } from './seat.ts'

export interface FrontProcessesOptions {
  /** The command that starts one. */
  command: readonly string[]
  /** A front's process was started, or has ended. */
  started?(id: string): void
  gone(id: string): void
  log(line: string): void
  /** Default: `startProcess`. */
  start?: FrontProcessParts['start']
  /** Undefined: requests cannot be kept. */
  keeper?: {
    address(): KeeperAddress | undefined
    /** A request is to be kept. */
    want(): void
    /** The ports where fronts accept requests of the keeper have changed. */
    fronts(ports: readonly number[]): void
  }
}

export interface FrontPlaces {
  /** One for each front. Owned by the caller. */
  sockets: readonly BoundSocket[]
  /** Read at each start. */
  settings(): FrontSettings
  /** Time allowed for the requests of a front that was replaced. */
  drainMs: number
}

/** A front was replaced; `finishing` requests are still in progress at the old one. */
export interface FrontStep {
  front: string
  by: string
  finishing?: number
}

interface Seat {
  fronts: FrontProcess[]
  /** Generation. */
  wanted: number
  /** Backoff of restarts. */
  waitMs: number
  timer: NodeJS.Timeout | undefined
}

/** Backoff of restarts; it resets for a front that lasted `soonMs`. */
const [firstWaitMs, longestWaitMs, soonMs] = [250, 30_000, 10_000]

export class FrontProcesses {
  readonly #options: FrontProcessesOptions
  readonly #seats: Seat[] = []
  #places: FrontPlaces | undefined
  #started = 0
  #generation = 1
  #rolling: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: FrontProcessesOptions) {
    this.#options = options
  }

  /** Starts a front that loads its code before the settings are known. */
  prepare(): void {
    this.#addSeat()
  }

  /** Starts all. Resolves when all listen, or their first start has failed; rejects if that of all has. */
  async open(places: FrontPlaces): Promise<void> {
    this.#places = places
    for (const { fronts } of this.#seats) for (const front of fronts) front.begin(places.settings())
    while (this.#seats.length < places.sockets.length) this.#addSeat()
    const starts = this.#seats.flatMap(({ fronts }) => fronts.map(({ listening }) => listening))
    if (starts.length > 0) await Promise.any(starts).catch((error: AggregateError) => throwFirst(error))
    await Promise.allSettled(starts)
  }

  /** True: this started it, and it has not ended. */
  has(id: string): boolean {
    return this.ids().includes(id)
  }

  /** The keeper listens, or has ended. */
  tellKeeper(address: KeeperAddress | undefined): void {
    for (const { fronts } of this.#seats) for (const front of fronts) front.tellKeeper(address)
  }

  ids(): string[] {
    return this.#seats.flatMap(({ fronts }) => fronts.map(({ id }) => id))
  }

  /**
   * Replaces one front at a time: its successor listens before it leaves. Does not wait for requests of the old one.
   * Rejects if a successor does not start. Waits for a roll in progress.
   */
  async *roll(
    isStale: (settings: FrontSettings | undefined) => boolean = () => true,
  ): AsyncGenerator<FrontStep> {
    const before = this.#rolling
    const end = Promise.withResolvers<void>()
    this.#rolling = end.promise
    await before
    try {
      for (const [seat, each] of this.#seats.entries()) {
        if (this.#closed) throw new Error('the cluster is stopping')
        const old = each.fronts.find(({ state }) => state === 'listening')
        if (old && !isStale(old.settings)) continue
        const next = this.#replace(seat, each)
        await next.listening
        if (!old) continue
        const finishing = await old.finishing
        yield { front: old.id, by: next.id, ...(finishing > 0 && { finishing }) }
      }
    } finally {
      end.resolve()
    }
  }

  /** Ends all, forcibly after `graceMs`, and resolves when none is left. Idempotent. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    const all = this.#seats.flatMap(({ fronts, timer }) => {
      clearTimeout(timer)
      return fronts
    })
    for (const front of all) front.kill('SIGTERM')
    const force = setTimeout(() => {
      for (const front of all) front.kill('SIGKILL')
    }, graceMs)
    await Promise.all(all.map(({ exited }) => exited))
    clearTimeout(force)
  }

  #addSeat(): void {
    const seat: Seat = { fronts: [], wanted: this.#generation, waitMs: firstWaitMs, timer: undefined }
    this.#seats.push(seat)
    this.#settle(this.#seats.length - 1, seat)
  }

  #replace(index: number, seat: Seat): FrontProcess {
    clearTimeout(seat.timer)
    seat.timer = undefined
    seat.wanted = ++this.#generation
    this.#settle(index, seat)
    return seat.fronts.at(-1)!
  }

  #settle(index: number, seat: Seat): void {
    if (this.#closed) return
    const { launch, leave, end } = seatSteps(seat.fronts, seat.wanted)
    for (const front of leave) front.leave(this.#places!.drainMs)
    for (const front of end) front.kill('SIGKILL')
    if (launch && !seat.timer) this.#launch(index, seat)
  }

  #launch(index: number, seat: Seat): void {
    const { command, log, started, start, keeper } = this.#options
    const front = new FrontProcess({
      ...{ id: `f${++this.#started}`, generation: seat.wanted, command, log, start },
      socket: () => this.#places?.sockets[index]?.handle,
      changed: () => {
        this.#settle(index, seat)
        front.tellKeeper(keeper?.address())
      },
      wantsKeeper: () => keeper?.want(),
      keptPortChanged: () => this.#tellPorts(),
    })
    seat.fronts.push(front)
    started?.(front.id)
    if (this.#places) front.begin(this.#places.settings())
    void front.exited.then(() => this.#ended(index, seat, front))
  }

  /** The keeper uses fronts that stay. */
  #tellPorts(): void {
    const ports = this.#seats.flatMap(({ fronts }) => fronts.flatMap(({ keptPort }) => keptPort ?? []))
    this.#options.keeper?.fronts(ports)
  }

  #ended(index: number, seat: Seat, front: FrontProcess): void {
    const { log, gone } = this.#options
    seat.fronts.splice(seat.fronts.indexOf(front), 1)
    if (front.keptPort !== undefined) this.#tellPorts()
    if (front.state !== 'leaving' && !this.#closed) log(`front ${front.id}: ended${front.lastLine}`)
    gone(front.id)
    if (front.state === 'starting') seat.wanted = wantedAfterFailure(seat.fronts, seat.wanted)
    if (front.state === 'leaving' || this.#closed) return
    const lasted = performance.now() - front.began > soonMs
    const waitMs = lasted ? firstWaitMs : seat.waitMs
    seat.waitMs = Math.min(longestWaitMs, waitMs * 2)
    seat.timer ??= setTimeout(() => {
      seat.timer = undefined
      this.#settle(index, seat)
    }, waitMs)
  }
}

function throwFirst({ errors: [first] }: AggregateError): never {
  throw first
}
