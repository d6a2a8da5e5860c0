/**
 * Drives a live brain: hands it events one at a time, logs them, performs its actions and wakes it on request.
 *
 * This process may stop running for seconds: it is stopped, starved of CPU, collects garbage or waits for a disk. What
 * workers sent in that time waits unread in sockets. So the brain is told first that it did not run, then what waits in the
 * sockets, and only then that time has passed.
 */

import type { Brain } from '../brain/brain.ts'
import { span } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { EventLogFile } from './event-log-file.ts'

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1
/** How often the driver notes that it runs. If it comes later than this, by this time or more, it did not run. */
const pulseMs = 250
/** After a pause, sockets are read until nothing arrives any more, but at most this many times. */
const mostReads = 32
/** Longer pauses are logged. */
const longPauseMs = 1_000

export interface DriverParts {
  brain: Brain
  eventLog: EventLogFile
  /** They see each event with its actions before the actions are performed. */
  observers: readonly { observe(event: Event, actions: readonly Action[], now: number): void }[]
  now(): number
  perform(action: Exclude<Action, { type: 'wake' }>): void
  log(line: string): void
}

export interface BrainDriver {
  /** Hands the brain an event. Events that its actions cause are queued. */
  tell(event: Event): void
  /** Ignores all further events. Idempotent. */
  end(): void
}

export function driveBrain(parts: DriverParts): BrainDriver {
  const driver = new Driver(parts)
  return { tell: (event) => driver.tell(event), end: () => driver.end() }
}

class Driver implements BrainDriver {
  readonly #parts: DriverParts
  readonly #inbox: Event[] = []
  readonly #pulse: NodeJS.Timeout
  #wake: NodeJS.Timeout | undefined
  /** When it fires; undefined: none is set. */
  #wakesAt: number | undefined
  #reading: NodeJS.Immediate | undefined
  #busy = false
  #ended = false
  #handled = 0
  /** When this process was last known to run, and when its last pause ended. */
  #ranAt: number
  #pausedAt = -Infinity

  constructor(parts: DriverParts) {
    this.#parts = parts
    this.#ranAt = parts.now()
    this.#pulse = setInterval(() => {
      this.#work()
      this.#ranAt = parts.now()
    }, pulseMs).unref()
  }

  tell(event: Event): void {
    if (this.#ended) return
    this.#inbox.push(event)
    if (!this.#busy) this.#work()
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#wake)
    clearImmediate(this.#reading)
    clearInterval(this.#pulse)
  }

  #work(): void {
    this.#busy = true
    try {
      do {
        const time = this.#parts.now()
        this.#notePause(time)
        const next = this.#inbox.shift()
        if (next) this.#handle(next, time)
      } while (this.#inbox.length > 0)
    } finally {
      this.#busy = false
    }
  }

  #handle(event: Event, time: number): void {
    const { brain, eventLog, observers, perform } = this.#parts
    this.#handled++
    const actions = brain.handle(event, time)
    eventLog.entry(time, event, actions)
    for (const observer of observers) observer.observe(event, actions, time)
    for (const action of actions) {
      if (action.type === 'wake') this.#wakeAt(action.at)
      else perform(action)
    }
  }

  #notePause(time: number): void {
    const ms = time - this.#ranAt - pulseMs
    if (ms < pulseMs) return
    this.#ranAt = this.#pausedAt = time
    if (ms >= longPauseMs)
      this.#parts.log(
        `brain: its process did not run for ${span(ms)}; that time does not count against workers`,
      )
    this.#handle({ type: 'paused', ms }, time)
  }

  /** Timers may fire a little early; the brain then asks again. */
  #wakeAt(at: number): void {
    if (at === this.#wakesAt) return
    const { now } = this.#parts
    clearTimeout(this.#wake)
    this.#wakesAt = at
    const ms = Math.min(longestTimerMs, Math.max(0, Math.ceil(at - now())))
    this.#wake = setTimeout(() => {
      this.#wakesAt = undefined
      if (this.#reading) return
      this.#work()
      this.#tickAfterReading(now() - this.#pausedAt < pulseMs ? mostReads : 1)
    }, ms)
  }

  /** Immediates run after the sockets have been read. */
  #tickAfterReading(reads: number): void {
    const before = this.#handled
    this.#reading = setImmediate(() => {
      if (reads > 1 && this.#handled > before) return this.#tickAfterReading(reads - 1)
      this.#reading = undefined
      this.tell({ type: 'tick' })
    })
  }
}
