/**
 * Virtual time for the real code of several processes inside one: the timers and clocks of the runtime are replaced, so
 * that a run of hours takes a second and is the same for the same seed. Each process has an event loop with the phases of
 * Node: timers that are due, then input, then `setImmediate`. A frozen process does nothing; when it continues, what has
 * become due meanwhile happens in that order.
 */

import { Heap } from '../../src/lib/heap.ts'
import { fixed } from './fixed.ts'

/** Order of what is due at the same time. */
const phases = { world: 0, timer: 1, input: 2, immediate: 3 } as const
type Phase = keyof typeof phases
/** More than a run can have entries. */
const sequences = 2 ** 40

/** One process of the world. */
export interface VirtualProcess {
  readonly name: string
  alive: boolean
  /** It does nothing until then: it is stopped, or computes. */
  frozenUntilMs: number
  /** CPU time that was charged to it. */
  cpuMs: number
  /** How many timers it has set. */
  timers: number
}

export function newProcess(name: string): VirtualProcess {
  return { name, alive: true, frozenUntilMs: 0, cpuMs: 0, timers: 0 }
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
  parse: JSON.parse,
  stringify: JSON.stringify,
  threadCpuUsage: process.threadCpuUsage,
  nextTick: process.nextTick,
}

/** What it costs to parse or write a character of JSON. */
const jsonMs = 1e-5
/** The date at which every run starts. */
const startedAt = 1_700_000_000_000
/** Then the real event loop has a turn. */
const eventsAtOnce = 1_000

export class VirtualTime {
  readonly #due = new Heap<Entry>()
  #sequence = 0
  now = 0
  /** Counts what is scheduled as long as it is set, and leaves some of it out. */
  numbered: { count: number; leftOut: ReadonlySet<number> } | undefined
  /** The process whose code runs now; timers that it sets belong to it. */
  process: VirtualProcess | undefined
  /** Called when a process computes, with the time of all that it has computed in this turn of its event loop. */
  onCharged: (process: VirtualProcess, turnMs: number) => void = () => {}
  #turnMs = 0
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
    JSON.parse = (text: string, ...more: []) => {
      this.charge(text.length * jsonMs)
      return real.parse(text, ...more)
    }
    JSON.stringify = (value: unknown, ...more: []) => {
      const text = real.stringify(value, ...more)
      this.charge((text?.length ?? 0) * jsonMs)
      return text
    }
    process.threadCpuUsage = (before) => {
      const user = (this.process?.cpuMs ?? 0) * 1000
      return { user: user - (before?.user ?? 0), system: 0 }
    }
    // An error that left Node's own queue of ticks would corrupt its stack of asynchronous contexts.
    process.nextTick = (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      real.nextTick(() => void this.#survives(() => run(...args)))
    performance.now = () => this.now
    Date.now = () => startedAt + this.now
    const others = fixed(startedAt, random)
    return {
      [Symbol.dispose]() {
        process.off('unhandledRejection', rejected).off('uncaughtException', rejected)
        const { performanceNow, dateNow, parse, stringify, threadCpuUsage, nextTick, ...timers } = real
        Object.assign(globalThis, timers)
        performance.now = performanceNow
        Date.now = dateNow
        others[Symbol.dispose]()
        Object.assign(JSON, { parse, stringify })
        Object.assign(process, { threadCpuUsage, nextTick })
      },
    }
  }

  /** The process whose code runs now computes for this time, and does nothing else meanwhile. */
  charge(ms: number): void {
    const { process } = this
    if (!process || ms <= 0) return
    process.cpuMs += ms
    this.#turnMs += ms
    process.frozenUntilMs = Math.max(process.frozenUntilMs, this.now) + ms
    this.onCharged(process, this.#turnMs)
  }

  /** Schedules an event of the world, which belongs to no process. */
  plan(at: number, run: () => void): void {
    this.schedule(at, 'world', undefined, run)
  }

  schedule(at: number, phase: Phase, process: VirtualProcess | undefined, run: () => void): Entry {
    const isLeftOut = this.numbered?.leftOut.has(this.numbered.count++) === true
    const tie = phases[phase] * sequences + ++this.#sequence
    const entry: Entry = { at, tie, process, run: isLeftOut ? undefined : run }
    this.#due.push(entry, at, entry.tie)
    return entry
  }

  /** Runs what is due, in order, until this time, or until `done`. */
  async run(untilMs: number, done: () => boolean = () => false): Promise<void> {
    for (let isOver = false; !isOver; )
      isOver = await new Promise((resolve, reject) =>
        // Promise jobs can only be run outside of promise jobs.
        real.setImmediate(() => {
          try {
            resolve(this.#runSome(untilMs, done))
          } catch (error) {
            reject(error)
          }
        }),
      )
  }

  /** Returns true if nothing is left to do. */
  #runSome(untilMs: number, done: () => boolean): boolean {
    for (let events = 0; events < eventsAtOnce; ) {
      const next = done() ? undefined : this.#due.pop()
      if (!next) return true
      if (next.at > untilMs) {
        this.#due.push(next, next.at, next.tie)
        this.now = untilMs
        return true
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
      events++
      this.#enter(owner, run)
    }
    return false
  }

  /** Runs code of a process, with all promise jobs and `nextTick` callbacks that follow from it. */
  #enter(process: VirtualProcess | undefined, run: () => void): void {
    this.process = process
    this.#turnMs = 0
    this.#survives(run)
    // What throws leaves the others to the next call.
    while (!this.#survives(runTicks));
    this.process = undefined
  }

  #survives(run: () => void): boolean {
    try {
      run()
      return true
    } catch (error) {
      this.onUncaught(this.process, error)
      return false
    }
  }
}

/** Node does this after each callback; an empty turn of the real event loop would do the same in thrice the time. */
function runTicks(): void {
  ;(process as unknown as { _tickCallback(): void })._tickCallback()
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
    if (this.#owner) this.#owner.timers++
    this.#entry = this.#time.schedule(this.#time.now + this.#ms, 'timer', this.#owner, () => {
      this.#entry = undefined
      if (this.#owner) this.#owner.timers--
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
    if (!this.#entry) return this
    if (this.#owner) this.#owner.timers--
    this.#entry.run = undefined
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
