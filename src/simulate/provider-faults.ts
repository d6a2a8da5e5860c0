/** What goes wrong with a provider of workers, drawn from a seed: its launches, and what it says is there. */

import { type Random, stream } from '../lib/random.ts'
import { rank } from './clock.ts'
import type { World } from './world.ts'

/** Shares between 0 and 1, and times. */
export interface ProviderFaultRates {
  launchFails: number
  launchHangs: number
  launchTwice: number
  /** Of two machines of one launch, the second never joins. */
  twinHangs: number
  diesBooting: number
  /** It boots for so long that nobody waits any more. */
  bootsLate: number
  /** Failures that nobody is told of. */
  silentFailure: number
  /** How often the list is asked for. */
  listEveryMs: number
  listLost: number
  listTwice: number
  /** It shows what was there up to so long ago. */
  listStaleMs: number
  /** How long it is on its way, on average. */
  listDelayMs: number
  /** Each entry is left out, or named twice. */
  entryLost: number
  entryTwice: number
  /** It names what is not there. */
  ghost: number
  /** It names nothing at all. */
  empty: number
  /** Mean time between machines that nobody asked for. */
  strayEveryMs: number
  untilMs: number
}

/** What becomes of a launch. */
export type LaunchFate = 'comes' | 'fails' | 'hangs' | 'twice' | 'twin-hangs' | 'dies' | 'late'

/** A list that arrives. */
export interface ListAnswer {
  delayMs: number
  launches: string[]
}

export class ProviderFaults {
  readonly rates: ProviderFaultRates
  readonly #launches: Random
  readonly #lists: Random
  /** What was there, at the times at which lists were asked for. */
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

  /** How far a launch comes before it dies, as a share. */
  part(): number {
    return this.#launches.next()
  }

  tellsFailure(): boolean {
    return this.#over || this.#launches.next() >= this.rates.silentFailure
  }

  /** What is answered to one who asks what is there: nothing, one list or two. */
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

  /** Lets machines come up that nobody asked for, and has the list asked for, first with faults and then without. */
  begin(world: World): void {
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
      for (const { delayMs, launches } of this.list(provider.list(), askedAt))
        clock.at(askedAt + delayMs, rank.message, () => world.tell({ type: 'listed', launches, askedAt }))
      clock.at(askedAt + listEveryMs, rank.fault, ask)
    }
    clock.at(listEveryMs, rank.fault, ask)
    clock.at(untilMs, rank.fault, () => {
      this.#over = true
    })
  }
}
