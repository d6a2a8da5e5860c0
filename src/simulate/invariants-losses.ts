/**
 * Whether workers are declared lost with good reason. The checks know when each message of a worker reached the brain's
 * process, read or not, and when that process did not run.
 */

import type { BrainLimits } from '../brain/limits.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { fail } from './invariant-account.ts'

interface Heard {
  seq: number
  at: number
  /** When it last answered a ping, or joined. */
  pongAt: number
  /** True: since then its connection closed, or an attempt did not reach it. */
  broken: boolean
  isNew: boolean
}

export class LossInvariants {
  readonly #limits: Partial<BrainLimits>
  readonly #heard = new Map<string, Heard>()
  /** The number of the last ping to each worker. */
  readonly #pings = new Map<string, number>()
  readonly #pauses: { from: number; to: number }[] = []
  readonly #silentLosses: number[] = []

  constructor(limits: Partial<BrainLimits>) {
    this.#limits = limits
  }

  /** The event has reached the brain's process. */
  arrived(event: Event, now: number): void {
    if (event.type === 'joined') this.#hear(event.worker.id, event.seq, now, true)
    else if (event.type === 'reported') this.#hear(event.worker, event.seq, now, false)
    else if (event.type === 'pong') this.#answered(event, now)
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    if (event.type === 'paused') this.#pauses.push({ from: now - event.ms, to: now })
    const isBreak = event.type === 'disconnected' || (event.type === 'failed' && event.kind === 'unreachable')
    const broken = isBreak ? this.#heard.get(event.worker) : undefined
    if (broken) broken.broken = true
    const workers = this.#heard.size
    for (const action of actions) {
      if (action.type === 'ping') this.#pings.set(action.worker, action.ping)
      if (action.type !== 'terminate') continue
      this.#check(action, now, workers)
      this.#heard.delete(action.worker)
    }
  }

  /** Answers to earlier pings prove nothing. */
  #answered({ worker, ping }: Extract<Event, { type: 'pong' }>, now: number): void {
    const known = this.#heard.get(worker)
    if (known && this.#pings.get(worker) === ping) known.pongAt = now
  }

  /** Late and duplicate messages prove nothing. */
  #hear(id: string, seq: number, now: number, joins: boolean): void {
    const known = this.#heard.get(id)
    if (known && known.seq >= seq) return
    if (!known && !joins) return
    this.#heard.set(id, { seq, at: now, pongAt: known?.pongAt ?? now, broken: false, isNew: !known })
  }

  #check({ worker, reason }: Extract<Action, { type: 'terminate' }>, now: number, workers: number): void {
    const known = this.#heard.get(worker)
    const leastMs = known && this.#leastSilenceMs(reason.code, known)
    if (!known || leastMs === undefined) return
    const since = reason.code === 'silent' ? known.at : known.pongAt
    const silentMs = now - since - this.#pausedSince(since)
    if (silentMs < leastMs - 0.01)
      fail(
        `worker ${worker} was declared lost (${reason.code}), but its last ${reason.code === 'silent' ? 'message' : 'answer'} came ${silentMs} ms ago, not counting ` +
          `the time in which the brain did not run; the limit is ${leastMs} ms`,
      )
    if (reason.code === 'silent' && !known.broken) this.#checkShare(worker, now, workers)
  }

  /** At most a share of the workers, or one, is lost for silence alone in the time of that silence. */
  #checkShare(worker: string, now: number, workers: number): void {
    const { silentLosses, beatMs = 0, missedBeats = 0 } = this.#limits
    if (!silentLosses) return
    this.#silentLosses.push(now)
    const lost = this.#silentLosses.filter((at) => at > now - beatMs * missedBeats).length
    const most = Math.max(1, silentLosses.share * (workers + lost))
    if (lost > most)
      fail(
        `worker ${worker} is the ${lost}th that was lost for its silence alone, but at most ${most} may be`,
      )
  }

  /** The silence that the rule with this code requires. Undefined: it does not judge by silence. */
  #leastSilenceMs(code: string, { isNew }: Heard): number | undefined {
    const { beatMs = 0, missedBeats = 0, freshMs = 0, pings, answers } = this.#limits
    if (code === 'silent') return isNew ? Math.max(freshMs, beatMs * missedBeats) : beatMs * missedBeats
    if (code === 'pings') return pings!.answerMs
    return code === 'heartbeat' ? answers!.heartbeatMs : undefined
  }

  #pausedSince(at: number): number {
    return this.#pauses.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, at)), 0)
  }
}
