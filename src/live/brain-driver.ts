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

export function driveBrain({ brain, eventLog, observers, now, perform, log }: DriverParts): BrainDriver {
  const inbox: Event[] = []
  let wake: NodeJS.Timeout | undefined
  let reading: NodeJS.Immediate | undefined
  let busy = false
  let ended = false
  let handled = 0
  /** When this process was last known to run, and when its last pause ended. */
  let ranAt = now()
  let pausedAt = -Infinity
  const pulse = setInterval(() => {
    work()
    ranAt = now()
  }, pulseMs).unref()

  function tell(event: Event): void {
    if (ended) return
    inbox.push(event)
    if (!busy) work()
  }

  function work(): void {
    busy = true
    try {
      do {
        const time = now()
        notePause(time)
        const next = inbox.shift()
        if (next) handle(next, time)
      } while (inbox.length > 0)
    } finally {
      busy = false
    }
  }

  function handle(event: Event, time: number): void {
    handled++
    const actions = brain.handle(event, time)
    eventLog.entry(time, event, actions)
    for (const observer of observers) observer.observe(event, actions, time)
    for (const action of actions) {
      if (action.type === 'wake') wakeAt(action.at)
      else perform(action)
    }
  }

  function notePause(time: number): void {
    const ms = time - ranAt - pulseMs
    if (ms < pulseMs) return
    ranAt = pausedAt = time
    if (ms >= longPauseMs)
      log(`brain: its process did not run for ${span(ms)}; that time does not count against workers`)
    handle({ type: 'paused', ms }, time)
  }

  /** Timers may fire a little early; the brain then asks again. */
  function wakeAt(at: number): void {
    clearTimeout(wake)
    const ms = Math.min(longestTimerMs, Math.max(0, Math.ceil(at - now())))
    wake = setTimeout(() => {
      if (reading) return
      work()
      tickAfterReading(now() - pausedAt < pulseMs ? mostReads : 1)
    }, ms)
  }

  /** Immediates run after the sockets have been read. */
  function tickAfterReading(reads: number): void {
    const before = handled
    reading = setImmediate(() => {
      if (reads > 1 && handled > before) return tickAfterReading(reads - 1)
      reading = undefined
      tell({ type: 'tick' })
    })
  }

  return {
    tell,
    end() {
      ended = true
      clearTimeout(wake)
      clearImmediate(reading)
      clearInterval(pulse)
    },
  }
}
