/** What the brain remembers of its pings to one worker. */

import type { Entry } from '../lib/heap.ts'
import type { Timer } from './timer.ts'

export interface PingState {
  /** Pings so far, and the last of them that was answered, by number. */
  sent: number
  answered: number
  /** With regular pings: when the last was sent, whether its answer is awaited, and how many in a row had none. */
  at: number
  awaited: boolean
  unanswered: number
  timer: Entry<Timer> | undefined
  /** The ping that decides whether the worker is lost, because it could not be reached. */
  heartbeat: { ping: number; timer: Entry<Timer> } | undefined
}

export function newPingState(): PingState {
  const none = { timer: undefined, heartbeat: undefined }
  return { sent: 0, answered: 0, at: 0, awaited: false, unanswered: 0, ...none }
}
