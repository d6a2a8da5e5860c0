/** Simulated functions, with cold starts, limits and faults. */

import type { OverflowSpec } from '../brain/functions/overflow-spec.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken, FailureKind } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import { type Happening, rank } from './clock.ts'
import type { Environment, Truth } from './environment.ts'

type Sent = Extract<Action, { type: 'overflow' }>
type Ended = Extract<Event, { type: 'finished' | 'failed' }>

export class SimFunctions {
  readonly #world: Environment
  readonly #spec: OverflowSpec
  /** Running attempts, by token. */
  readonly #running = new Map<string, Happening>()
  /** When each idle function became idle. */
  #warm: number[] = []

  constructor(world: Environment, spec: OverflowSpec) {
    this.#world = world
    this.#spec = spec
  }

  /** Running attempts, including cancelled jobs. */
  get busy(): number {
    return this.#running.size
  }

  invoke(sent: Sent, truth: Truth | undefined): void {
    // Its client has hung up, or the message is a duplicate.
    if (!truth || this.#running.has(keyOf(sent))) return
    const fate = this.#world.parts.faults?.function() ?? 'works'
    if (fate === 'throttles' || this.busy >= this.#spec.concurrency) {
      return this.#tell({ type: 'failed', ...endOf(sent), kind: 'throttled' })
    }
    const { clock } = this.#world
    const startMs = this.#start(clock.now)
    const workMs = (truth.size / this.#spec.workPerSecond) * 1000
    const { timeoutMs } = this.#spec
    const after = (ms: number, event: Ended | undefined) => {
      const happening = clock.at(clock.now + ms, rank.message, () => {
        this.#running.delete(keyOf(sent))
        if (event?.type === 'finished') this.#warm.push(clock.now)
        if (event) this.#tell(event)
      })
      this.#running.set(keyOf(sent), happening)
    }
    const fails = (kind: FailureKind, message = '') => ({
      ...{ type: 'failed' as const, ...endOf(sent), kind, message },
    })
    if (fate === 'errs') return after(startMs, fails('refused', 'the function broke'))
    if (fate === 'dies') return after(startMs + workMs / 2, fails('unreachable', 'connection closed'))
    // It runs until the timeout and never reports.
    if (fate === 'hangs') return after(timeoutMs, undefined)
    if (startMs + workMs > timeoutMs) return after(timeoutMs, fails('timeout'))
    if (truth.job.memoryMb > this.#spec.memoryMb) return after(startMs + workMs / 2, fails('limit'))
    if (truth.fate === 'errs') return after(startMs + workMs, fails('error', 'bad input'))
    if (truth.fate !== 'ends') return after(startMs + workMs, fails('crash'))
    after(startMs + workMs, { type: 'finished', ...endOf(sent), work: truth.size })
  }

  cancel(token: AttemptToken): void {
    const happening = this.#running.get(keyOf(token))
    if (!happening) return
    this.#world.clock.cancel(happening)
    this.#running.delete(keyOf(token))
  }

  /** The cold start of the next attempt; 0 if a function is warm. */
  #start(now: number): number {
    this.#warm = this.#warm.filter((since) => since + this.#spec.keepWarmMs >= now)
    return this.#warm.pop() === undefined ? this.#spec.coldMs : 0
  }

  #tell(event: Event): void {
    this.#world.send(() => this.#world.tell(event))
  }
}

function endOf({ epoch, job, attempt, function: worker }: Sent): AttemptToken & { worker: string } {
  return { epoch, job, attempt, worker }
}

function keyOf({ epoch, job, attempt }: AttemptToken): string {
  return `${epoch}/${job}/${attempt}`
}
