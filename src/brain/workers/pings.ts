/** Pings: the brain asks a worker for a sign of life. One that leaves too many of them in a row unanswered is lost. */

import type { Event } from '../../model/event.ts'
import type { Concern, Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { setTimer } from '../timers.ts'
import { lose } from './leaving.ts'

/** Pings at a fixed interval, the first when a worker joins: once it has answered that, it is no longer new. */
export const pings: Concern = {
  name: 'pings',
  isActive: ({ limits }) => limits.pings !== null,
  joined: send,
  timers: {
    ping(core, id) {
      const worker = core.workers.get(id)
      if (!worker) return
      worker.pings.timer = undefined
      if (worker.pings.awaited) check(core, worker)
      else send(core, worker)
    },
  },
}

/** Asks the worker for a sign of life. Returns the number of the ping, for `isAnswered`. */
export function ping(core: Core, worker: WorkerRecord): number {
  const number = ++worker.pings.sent
  core.actions.push({ type: 'ping', worker: worker.id, ping: number })
  return number
}

/** True: the worker has answered this ping or a later one. */
export function isAnswered({ pings }: WorkerRecord, number: number): boolean {
  return pings.answered >= number
}

/** Messages may arrive late, twice, or from before a restart of the brain. */
export function notePong(core: Core, { worker: id, ping: number }: Extract<Event, { type: 'pong' }>): void {
  const pings = core.workers.get(id)?.pings
  if (pings && number <= pings.sent) pings.answered = Math.max(pings.answered, number)
}

function send(core: Core, worker: WorkerRecord): void {
  ping(core, worker)
  worker.pings.at = core.now
  worker.pings.awaited = true
  plan(core, worker, core.now + core.limits.pings!.answerMs)
}

/** The time to answer the last ping is over. An answer that comes later does not count. */
function check(core: Core, worker: WorkerRecord): void {
  const { everyMs, answerMs, most, mostFresh } = core.limits.pings!
  const state = worker.pings
  state.awaited = false
  state.unanswered = isAnswered(worker, state.sent) ? 0 : state.unanswered + 1
  const { at, unanswered } = state
  if (unanswered >= (state.answered === 0 ? mostFresh : most))
    return lose(core, worker.id, { code: 'pings', unanswered, everyMs, answerMs })
  plan(core, worker, Math.max(core.now, at + everyMs))
}

function plan(core: Core, worker: WorkerRecord, at: number): void {
  worker.pings.timer = setTimer(core, { kind: 'ping', id: worker.id }, at)
}
