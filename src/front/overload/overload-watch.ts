/** Watches the overload of this process: takes readings, decides the step, logs it and counts what it costs. */

import { Outage } from '../../lib/outage.ts'
import { RecoveryTime } from '../../lib/retry-times.ts'
import type { Action } from '../../model/action.ts'
import type { OverloadStatus, OverloadStep } from '../../model/overload.ts'
import type { ResourceReader } from './readings.ts'
import { nextState, noOverload, type OverloadState, type StepRules, usualRules } from './steps.ts'

/** Interval of readings. */
const usualEveryMs = 250
/** Least interval of reports to `onStatus` while the step stays the same. */
const reportMs = 1_000
/** How long an overload lasts, until one has ended: mostly the calm periods in which its steps end. */
const guessMs = 5_000

export interface OverloadWatchParts {
  reader: ResourceReader
  /** Milliseconds of any clock that does not go back. */
  now(): number
  log(line: string): void
  rules?: StepRules
  /** What the process does in each step, in words. Default: what fronts and the brain do. */
  doing?: Readonly<Record<OverloadStep, string>>
  everyMs?: number
}

type ToldAnswer = Extract<Action, { type: 'answer' }>

/** What an overload costs, counted since the start. */
type Counted = 'shed' | 'refusedConnections' | 'refusedRequests'

const usualDoing: Readonly<Record<OverloadStep, string>> = {
  0: 'accepts everything',
  1: 'reads no large bodies of new requests',
  2: 'sheds the most expensive requests',
  3: 'refuses new connections',
}

export class OverloadWatch {
  readonly #parts: OverloadWatchParts
  readonly #timer: NodeJS.Timeout
  readonly #onStatus: ((status: OverloadStatus) => void)[] = []
  readonly #onLook: (() => void)[] = []
  readonly #reading: Outage
  readonly #recovery: RecoveryTime
  #state: OverloadState = noOverload
  #counts = { shed: 0, refusedConnections: 0, refusedRequests: 0 }
  #loopMs: number | undefined
  #reported = { at: 0, text: '' }
  /** Requests whose bodies wait. */
  held = 0

  constructor(parts: OverloadWatchParts) {
    this.#parts = parts
    const words = {
      failed: (why: string) => `overload: readings fail, and the step stays as it is: ${why}`,
      works: () => 'overload: readings succeed again',
    }
    this.#reading = new Outage(words, (line) => parts.log(line))
    this.#recovery = new RecoveryTime(guessMs, parts.now)
    this.#timer = setInterval(() => this.look(), parts.everyMs ?? usualEveryMs).unref()
  }

  get step(): OverloadStep {
    return this.#state.step
  }

  /** From 0 to 1: how much is to be shed. */
  get pressure(): number {
    return this.#state.pressure
  }

  /** When the overload is expected to have ended, for the next request that is rejected because of it. */
  retryAfterMs(): number {
    return this.#recovery.retryAfterMs()
  }

  /** The brain goes by its backlog when it sheds a job, and does not know how long this process stays overloaded. */
  amend(answer: ToldAnswer): ToldAnswer {
    const { reason } = answer
    if (reason.code !== 'overloaded' || this.step === 0) return answer
    const retryAfterMs = Math.max(Number(reason.retryAfterMs), Math.round(this.retryAfterMs()))
    return { ...answer, reason: { ...reason, retryAfterMs } }
  }

  status(): OverloadStatus {
    const { step, pressure } = this.#state
    const { doing = usualDoing } = this.#parts
    return {
      ...{ step, pressure },
      ...(this.#loopMs !== undefined && { loopMs: this.#loopMs }),
      ...(step > 0 && { doing: doing[step], why: causeText(this.#state) }),
      held: this.held,
      ...this.#counts,
    }
  }

  count(what: Counted): void {
    this.#counts[what]++
  }

  /** Calls back after readings that changed the status. */
  onStatus(listener: (status: OverloadStatus) => void): void {
    this.#onStatus.push(listener)
  }

  /** Calls back after each reading. */
  onLook(listener: () => void): void {
    this.#onLook.push(listener)
  }

  /** Takes one reading. */
  look(): void {
    const { reader, now, rules = usualRules } = this.#parts
    const { step } = this.#state
    try {
      const readings = reader.read()
      this.#state = nextState(this.#state, readings, now(), rules)
      this.#loopMs = readings.loop === undefined ? undefined : Math.round(readings.loop * 10) / 10
      this.#reading.works()
    } catch (error) {
      this.#reading.failed((error as Error).message)
    }
    if (this.step > 0) this.#recovery.begins()
    else this.#recovery.ends()
    if (this.step !== step) this.#log()
    this.#report(this.step !== step)
    for (const listener of this.#onLook) listener()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#parts.reader.close()
  }

  #log(): void {
    const { step, why } = this.status()
    const { shed, refusedConnections, refusedRequests } = this.#counts
    const { doing = usualDoing } = this.#parts
    const costs = `so far ${shed} requests shed, ${refusedConnections} connections and ${refusedRequests} requests refused`
    this.#parts.log(
      `overload: step ${step} of 3, ${doing[step]}${why === undefined ? '' : `: ${why}`}; ${costs}`,
    )
  }

  #report(isChanged: boolean): void {
    const status = this.status()
    const text = JSON.stringify(status)
    const at = this.#parts.now()
    if (text === this.#reported.text || (!isChanged && at - this.#reported.at < reportMs)) return
    this.#reported = { at, text }
    for (const listener of this.#onStatus) listener(status)
  }
}

function causeText({ cause }: OverloadState): string {
  if (!cause) return ''
  const { resource, reading } = cause
  const percent = `${Math.round(reading * 100)} %`
  switch (resource) {
    case 'memory':
      return `memory is at ${percent} of its limit`
    case 'descriptors':
      return `open descriptors are at ${percent} of their limit`
    case 'loop':
      return `the event loop is late by ${Math.round(reading)} ms on average`
    case 'queue':
      return `the queue is ${percent} full`
  }
}
