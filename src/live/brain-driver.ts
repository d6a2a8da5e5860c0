/** Drives a live brain: hands it events one at a time, logs them, performs its actions and wakes it on request. */

import type { Brain } from '../brain/brain.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { EventLogFile } from './event-log-file.ts'

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1

export interface DriverParts {
  brain: Brain
  eventLog: EventLogFile
  /** They see each event with its actions before the actions are performed. */
  observers: readonly { observe(event: Event, actions: readonly Action[], now: number): void }[]
  now(): number
  perform(action: Exclude<Action, { type: 'wake' }>): void
}

export interface BrainDriver {
  /** Hands the brain an event. Events that its actions cause are queued. */
  tell(event: Event): void
  /** Ignores all further events. Idempotent. */
  end(): void
}

export function driveBrain({ brain, eventLog, observers, now, perform }: DriverParts): BrainDriver {
  const inbox: Event[] = []
  let wake: NodeJS.Timeout | undefined
  let busy = false
  let ended = false

  function tell(event: Event): void {
    if (ended) return
    inbox.push(event)
    if (busy) return
    busy = true
    try {
      for (let next = inbox.shift(); next; next = inbox.shift()) {
        const time = now()
        const actions = brain.handle(next, time)
        eventLog.entry(time, next, actions)
        for (const observer of observers) observer.observe(next, actions, time)
        for (const action of actions) {
          if (action.type === 'wake') wakeAt(action.at)
          else perform(action)
        }
      }
    } finally {
      busy = false
    }
  }

  /** Timers may fire a little early; the brain then asks again. */
  function wakeAt(at: number): void {
    clearTimeout(wake)
    const ms = Math.min(longestTimerMs, Math.max(0, Math.ceil(at - now())))
    wake = setTimeout(() => tell({ type: 'tick' }), ms)
  }

  return {
    tell,
    end() {
      ended = true
      clearTimeout(wake)
    },
  }
}
