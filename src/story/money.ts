/** What the fleet and its functions cost, added up from what the brain is told and does, and what a fixed fleet would have. */

import { ConfigError } from '../lib/errors.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Prices } from '../model/prices.ts'

/** What was spent until now, and what for. */
export interface Money {
  workers: number
  functions: number
  spent: number
  /** What the most workers that there were at a time would have cost all the time, and how much less was spent. */
  fixedAtPeak: number
  saved: number
  peakWorkers: number
  /** As paid for. */
  workerHours: number
  functionGbSeconds: number
  functionRequests: number
}

interface Away {
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

/** Is handed every event with the actions that it led to. */
export class Bill {
  readonly #prices: Prices
  readonly #memoryGb: number
  /** Since when launches that have not joined, and workers, are paid for. */
  readonly #launches = new Map<string, number>()
  readonly #workers = new Map<string, number>()
  readonly #away = new Map<string, Away>()
  #beganAt: number | undefined
  #workerMs = 0
  #peak = 0
  #functionMs = 0
  #requests = 0

  /** `memoryMb`: of each function. */
  constructor(prices: Prices, memoryMb = 0) {
    checkPrices(prices)
    this.#prices = prices
    this.#memoryGb = memoryMb / 1024
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    this.#beganAt ??= now
    if (event.type === 'joined') this.#joined(event, now)
    // Who is turned away has not run, and is not paid for.
    else if (event.type === 'failed' && event.kind === 'throttled') this.#turnedAway(event)
    else if (event.type === 'cancelled') this.#back(event.job, now)
    for (let i = 0; i < actions.length; i++) this.#did(actions[i]!, now)
  }

  /** What has been spent by then. */
  at(now: number): Money {
    const { workerHour, gbSecond, request } = this.#prices
    let workerMs = this.#workerMs
    for (const since of [...this.#launches.values(), ...this.#workers.values()])
      workerMs += this.#billedMs(now - since)
    let functionMs = this.#functionMs
    for (const { since } of this.#away.values()) functionMs += now - since
    const functionRequests = this.#requests + this.#away.size
    const functionGbSeconds = (functionMs / 1000) * this.#memoryGb
    const workerHours = workerMs / hourMs
    const workers = workerHours * workerHour
    const functions = functionGbSeconds * gbSecond + functionRequests * request
    const everMs = now - (this.#beganAt ?? now)
    const fixedAtPeak = (this.#peak * this.#billedMs(everMs) * workerHour) / hourMs
    const spent = workers + functions
    // Sums of fractions are not exact: what is the same is not a hair less.
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
        this.#away.set(action.job, { attempt: action.attempt, function: action.function, since: now })
        return
      case 'answer':
        return this.#back(action.job, now)
      case 'retry':
      case 'cancel':
        if (this.#away.get(action.job)?.attempt === action.attempt) this.#back(action.job, now)
        return
    }
  }

  #joined({ worker, launch }: Extract<Event, { type: 'joined' }>, now: number): void {
    if (this.#workers.has(worker.id)) return
    const since = launch === undefined ? now : this.#launches.get(launch)
    // Nobody expects it: it is ended at once.
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

  #turnedAway({ job, attempt, worker }: Extract<Event, { type: 'failed' }>): void {
    const away = this.#away.get(job)
    if (away?.attempt === attempt && away.function === worker) this.#away.delete(job)
  }

  /** The job is in the function's hands no longer. */
  #back(job: string, now: number): void {
    const away = this.#away.get(job)
    if (!away) return
    this.#away.delete(job)
    this.#functionMs += now - away.since
    this.#requests++
  }

  #billedMs(ms: number): number {
    const { workerLeastMs, workerStepMs } = this.#prices
    return Math.max(workerLeastMs, Math.ceil(ms / workerStepMs) * workerStepMs)
  }
}
