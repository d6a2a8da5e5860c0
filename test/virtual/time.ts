/**
 * Virtual time for the real code of several processes inside one: the timers and clocks of the runtime are replaced, so
 * that a run of hours takes a second and is the same for the same seed. Each process has an event loop with the phases of
 * Node: timers that are due, then input, then `setImmediate`. A frozen process does nothing; when it continues, what has
 * become due meanwhile happens in that order.
 */

import { Heap } from '../../src/lib/heap.ts'

/** Order of what is due at the same time. */
const phases = { world: 0, timer: 1, input: 2, immediate: 3 } as const
type Phase = keyof typeof phases
/** More than a run can have entries. */
const sequences = 2 ** 40

/** One process of the world. */
export interface VirtualProcess {
  readonly name: string
  alive: boolean
  frozenUntilMs: number
}

interface Entry {
  at: number
  /** Order among entries of the same time: phase, then sequence. */
  tie: number
  process: VirtualProcess | undefined
  run: (() => void) | undefined
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  performanceNow: performance.now,
  dateNow: Date.now,
  random: Math.random,
}

/** The date at which every run starts. */
const startedAt = 1_700_000_000_000

export class VirtualTime {
  readonly #due = new Heap<Entry>()
  #sequence = 0
  now = 0
  /** The process whose code runs now; timers that it sets belong to it. */
  process: VirtualProcess | undefined
  /** Called with an error that nothing in the process has caught. */
  onUncaught: (process: VirtualProcess | undefined, error: unknown) => void = (_, error) => {
    throw error
  }

  /** Replaces the timers, clocks and randomness of this thread until it is disposed. */
  install(random: () => number): Disposable {
    const rejected = (error: unknown) => this.onUncaught(this.process, error)
    process.on('unhandledRejection', rejected).on('uncaughtException', rejected)
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
        new VirtualTimer(this, () => run(...args), ms, false),
      setInterval: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
        new VirtualTimer(this, () => run(...args), ms, true),
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        new VirtualImmediate(this, () => run(...args)),
      clearTimeout: cancel,
      clearInterval: cancel,
      clearImmediate: cancel,
    })
    performance.now = () => this.now
    Date.now = () => startedAt + this.now
    Math.random = random
    return {
      [Symbol.dispose]() {
        process.off('unhandledRejection', rejected).off('uncaughtException', rejected)
        const { performanceNow, dateNow, random: realRandom, ...timers } = real
        Object.assign(globalThis, timers)
        performance.now = performanceNow
        Date.now = dateNow
        Math.random = realRandom
      },
    }
  }

  /** Schedules an event of the world, which belongs to no process. */
  plan(at: number, run: () => void): void {
    this.schedule(at, 'world', undefined, run)
  }

  schedule(at: number, phase: Phase, process: VirtualProcess | undefined, run: () => void): Entry {
    const entry = { at, tie: phases[phase] * sequences + ++this.#sequence, process, run }
    this.#due.push(entry, at, entry.tie)
    return entry
  }

  /** Runs code of a process now, with everything that follows from it at once. */
  async enter(process: VirtualProcess | undefined, run: () => void): Promise<void> {
    this.process = process
    try {
      run()
    } catch (error) {
      this.onUncaught(process, error)
    }
    // All promise jobs and `nextTick` callbacks run before a real `setImmediate`.
    await new Promise<void>((resolve) => real.setImmediate(resolve))
    this.process = undefined
  }

  /** Runs what is due, in order, until this time, or until `done`. */
  async run(untilMs: number, done: () => boolean = () => false): Promise<void> {
    while (!done()) {
      const next = this.#due.pop()
      if (!next) return
      if (next.at > untilMs) {
        this.#due.push(next, next.at, next.tie)
        this.now = untilMs
        return
      }
      const { process: owner, run } = next
      if (!run || owner?.alive === false) continue
      if (owner && owner.frozenUntilMs > next.at) {
        next.at = owner.frozenUntilMs
        this.#due.push(next, next.at, next.tie)
        continue
      }
      this.now = Math.max(this.now, next.at)
      next.run = undefined
      await this.enter(owner, run)
    }
  }
}

function cancel(timer: VirtualTimer | VirtualImmediate | undefined): void {
  timer?.close()
}

/** Behaves like Node's `Timeout` as far as the code uses it. */
class VirtualTimer implements Disposable {
  readonly #time: VirtualTime
  readonly #owner: VirtualProcess | undefined
  readonly #run: () => void
  readonly #ms: number
  readonly #repeats: boolean
  #entry: Entry | undefined

  constructor(time: VirtualTime, run: () => void, ms: number | undefined, repeats: boolean) {
    this.#time = time
    this.#owner = time.process
    this.#run = run
    this.#ms = Math.max(1, Number(ms) || 0)
    this.#repeats = repeats
    this.#set()
  }

  #set(): void {
    this.#entry = this.#time.schedule(this.#time.now + this.#ms, 'timer', this.#owner, () => {
      this.#entry = undefined
      if (this.#repeats) this.#set()
      this.#run()
    })
  }

  refresh(): this {
    if (this.#entry?.run) this.close()
    this.#set()
    return this
  }

  close(): this {
    if (this.#entry) this.#entry.run = undefined
    this.#entry = undefined
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

class VirtualImmediate {
  readonly #entry: Entry

  constructor(time: VirtualTime, run: () => void) {
    this.#entry = time.schedule(time.now, 'immediate', time.process, run)
  }

  close(): void {
    this.#entry.run = undefined
  }
}
