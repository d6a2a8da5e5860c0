/** The cost of workers and functions, from events and actions, compared with a fixed fleet. */

import { ConfigError } from '../lib/errors.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Prices } from '../model/prices.ts'

export interface Money {
  workers: number
  functions: number
  spent: number
  /** Cost of the peak number of workers for the whole time, and the difference to the amount spent. */
  fixedAtPeak: number
  saved: number
  peakWorkers: number
  /** As billed. */
  workerHours: number
  functionGbSeconds: number
  functionRequests: number
}

interface FunctionAttempt {
  attempt: number
  function: string
  since: number
}

const hourMs = 3_600_000

export function checkPrices(prices: Prices): void {
  for (const [name, value] of Object.entries(prices)) {
    const least = name === 'workerStepMs' ? 1 : 0
    if (!(value >= least && value < Infinity))
      throw new ConfigError(`prices.${name} = ${value}: must be a finite number, ${least} or more`)
  }
}

/** Receives every event with its resulting actions. */
export class Bill {
  readonly #prices: Prices
  readonly #memoryGb: number
  /** When billing began, of launches that have not joined and of workers. */
  readonly #launches = new Map<string, number>()
  readonly #workers = new Map<string, number>()
  readonly #inFunctions = new Map<string, FunctionAttempt>()
  #beganAt: number | undefined
  #workerMs = 0
  #peak = 0
  #functionMs = 0
  #requests = 0

  /** `memoryMb` is the memory of a function. */
  constructor(prices: Prices, memoryMb = 0) {
    checkPrices(prices)
    this.#prices = prices
    this.#memoryGb = memoryMb / 1024
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    this.#beganAt ??= now
    if (event.type === 'joined') this.#joined(event, now)
    // A throttled attempt did not run and is not billed.
    else if (event.type === 'failed' && event.kind === 'throttled') this.#throttled(event)
    else if (event.type === 'cancelled') this.#leftFunction(event.job, now)
    for (let i = 0; i < actions.length; i++) this.#did(actions[i]!, now)
  }

  /** The amounts up to `now`. */
  at(now: number): Money {
    const { workerHour, gbSecond, request } = this.#prices
    let workerMs = this.#workerMs
    for (const since of [...this.#launches.values(), ...this.#workers.values()])
      workerMs += this.#billedMs(now - since)
    let functionMs = this.#functionMs
    for (const { since } of this.#inFunctions.values()) functionMs += now - since
    const functionRequests = this.#requests + this.#inFunctions.size
    const functionGbSeconds = (functionMs / 1000) * this.#memoryGb
    const workerHours = workerMs / hourMs
    const workers = workerHours * workerHour
    const functions = functionGbSeconds * gbSecond + functionRequests * request
    const totalMs = now - (this.#beganAt ?? now)
    const fixedAtPeak = (this.#peak * this.#billedMs(totalMs) * workerHour) / hourMs
    const spent = workers + functions
    // Equal amounts may differ by rounding.
    const saved = Math.abs(fixedAtPeak - spent) < 1e-9 * spent ? 0 : fixedAtPeak - spent
    return {
      ...{ workers, functions, spent, fixedAtPeak, saved, peakWorkers: this.#peak },
      ...{ workerHours, functionGbSeconds, functionRequests },
    }
  }

  #did(action: Action, now: number): void {
    switch (action.type) {
      case 'launch':
        this.#launches.set(action.launch, now)
        return
      case 'abandon':
        return this.#ended(this.#launches, action.launch, now)
      case 'terminate':
        return this.#ended(this.#workers, action.worker, now)
      case 'overflow':
        this.#inFunctions.set(action.job, { attempt: action.attempt, function: action.function, since: now })
        return
      case 'answer':
        return this.#leftFunction(action.job, now)
      case 'retry':
      case 'cancel':
        if (this.#inFunctions.get(action.job)?.attempt === action.attempt) this.#leftFunction(action.job, now)
        return
    }
  }

  #joined({ worker, launch }: Extract<Event, { type: 'joined' }>, now: number): void {
    if (this.#workers.has(worker.id)) return
    const since = launch === undefined ? now : this.#launches.get(launch)
    // Its launch is unknown: the worker is ended at once.
    if (since === undefined) return
    if (launch !== undefined) this.#launches.delete(launch)
    this.#workers.set(worker.id, since)
    this.#peak = Math.max(this.#peak, this.#workers.size)
  }

  #ended(from: Map<string, number>, id: string, now: number): void {
    const since = from.get(id)
    if (since === undefined) return
    this.#workerMs += this.#billedMs(now - since)
    from.delete(id)
  }

  #throttled({ job, attempt, worker }: Extract<Event, { type: 'failed' }>): void {
    const running = this.#inFunctions.get(job)
    if (running?.attempt === attempt && running.function === worker) this.#inFunctions.delete(job)
  }

  /** The job is no longer in a function. */
  #leftFunction(job: string, now: number): void {
    const running = this.#inFunctions.get(job)
    if (!running) return
    this.#inFunctions.delete(job)
    this.#functionMs += now - running.since
    this.#requests++
  }

  #billedMs(ms: number): number {
    const { workerLeastMs, workerStepMs } = this.#prices
    return Math.max(workerLeastMs, Math.ceil(ms / workerStepMs) * workerStepMs)
  }
}
