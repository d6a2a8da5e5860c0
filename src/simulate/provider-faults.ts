/** Faults of a provider, drawn from a seed: of its launches and of its lists. */

import { type Random, stream } from '../lib/random.ts'
import { rank } from './clock.ts'
import type { Environment, LaunchFate } from './environment.ts'

/** Shares between 0 and 1, and times. */
export interface ProviderFaultRates {
  launchFails: number
  launchHangs: number
  launchTwice: number
  /** A launch creates two machines, of which the second never joins. */
  twinHangs: number
  diesBooting: number
  /** It boots longer than the boot timeout. */
  bootsLate: number
  /** Failures that are not reported. */
  silentFailure: number
  /** Interval of lists. */
  listEveryMs: number
  listLost: number
  listTwice: number
  /** Maximum age of what a list shows. */
  listStaleMs: number
  /** Mean delay of a list. */
  listDelayMs: number
  /** An entry is missing, or listed twice. */
  entryLost: number
  entryTwice: number
  /** The list names a machine that does not exist. */
  ghost: number
  /** The list is empty. */
  empty: number
  /** Mean time between machines that nobody launched. */
  strayEveryMs: number
  untilMs: number
}

/** A list, and when it arrives. */
export interface ListAnswer {
  delayMs: number
  launches: string[]
}

export class ProviderFaults {
  readonly rates: ProviderFaultRates
  readonly #launches: Random
  readonly #lists: Random
  /** The machines at the times of earlier lists. */
  readonly #past: { at: number; launches: string[] }[] = []
  #over = false

  constructor(rates: ProviderFaultRates, seed: number) {
    this.rates = rates
    this.#launches = stream(seed, 'launches')
    this.#lists = stream(seed, 'lists')
  }

  launch(): LaunchFate {
    if (this.#over) return 'comes'
    const { launchFails, launchHangs, launchTwice, twinHangs, diesBooting, bootsLate } = this.rates
    let draw = this.#launches.next()
    const fates: [LaunchFate, number][] = [
      ['fails', launchFails],
      ['hangs', launchHangs],
      ['twice', launchTwice],
      ['twin-hangs', twinHangs],
      ['dies', diesBooting],
      ['late', bootsLate],
    ]
    for (const [fate, share] of fates) {
      if (draw < share) return fate
      draw -= share
    }
    return 'comes'
  }

  part(): number {
    return this.#launches.next()
  }

  tellsFailure(): boolean {
    return this.#over || this.#launches.next() >= this.rates.silentFailure
  }

  /** The answers to one request for a list: none, one or two. */
  list(there: string[], now: number): ListAnswer[] {
    const { listStaleMs, listLost, listTwice, listDelayMs, entryLost, entryTwice, ghost, empty } = this.rates
    const random = this.#lists
    if (this.#over) return [{ delayMs: 0, launches: there }]
    this.#past.push({ at: now, launches: there })
    const staleMs = random.next() * listStaleMs
    while (this.#past.length > 1 && this.#past[1]!.at <= now - listStaleMs) this.#past.shift()
    const shown = this.#past.findLast(({ at }) => at <= now - staleMs) ?? this.#past[0]!
    if (random.next() < listLost) return []
    const launches = random.next() < empty ? [] : shown.launches.filter(() => random.next() >= entryLost)
    for (const launch of launches.slice()) if (random.next() < entryTwice) launches.push(launch)
    if (random.next() < ghost) launches.push(`0-${random.below(3)}`)
    const answer = () => ({ delayMs: random.exponential() * listDelayMs, launches })
    return random.next() < listTwice ? [answer(), answer()] : [answer()]
  }

  /** Starts stray machines until `untilMs`, and requests lists forever. */
  begin(world: Environment): void {
    const { strayEveryMs, untilMs, listEveryMs } = this.rates
    const { clock, provider } = world
    const next = () => {
      const at = clock.now + this.#launches.exponential() * strayEveryMs
      if (at < untilMs) clock.at(at, rank.fault, stray)
    }
    const stray = () => {
      provider.stray(this.#launches.next() < 0.5)
      next()
    }
    next()
    const ask = () => {
      const askedAt = clock.now
      clock.at(askedAt + listEveryMs, rank.fault, ask)
      // The brain's process asks.
      if (world.process.frozen) return
      for (const { delayMs, launches } of this.list(provider.list(), askedAt))
        clock.at(askedAt + delayMs, rank.message, () => world.tell({ type: 'listed', launches, askedAt }))
    }
    clock.at(listEveryMs, rank.fault, ask)
    clock.at(untilMs, rank.fault, () => {
      this.#over = true
    })
  }
}
