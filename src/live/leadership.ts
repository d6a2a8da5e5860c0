/** Whether this cluster leads all clusters with its store, and who may join it for that reason. */

import { epochOf, termOf } from '../wire/leading.ts'

export interface LeadershipParts {
  /** False: no other cluster uses its store, so it leads always. */
  isShared: boolean
  /** It leads at the start, because the brain before led. */
  leads: boolean
  /** Of the brain at its start. */
  epoch: number
}

export interface LeadershipEvents {
  /** It leads, with tokens of this epoch. */
  began(epoch: number): void
  /** It leads no longer: followers go to another cluster. */
  ended(message: string): void
}

const elsewhere = 'another cluster with the same store leads, or will soon'

export class Leadership {
  readonly #isShared: boolean
  #leads: boolean
  #events: LeadershipEvents | undefined
  /** Of the tokens of attempts that begin now. */
  epoch: number

  constructor({ isShared, leads, epoch }: LeadershipParts) {
    this.#isShared = isShared
    this.#leads = leads
    this.epoch = epoch
  }

  on(events: LeadershipEvents): void {
    this.#events = events
  }

  /** Why a worker or a front that follows leaders of this term or a later one must try another cluster. Undefined: it may join. */
  refusal(follows: number | undefined): string | undefined {
    if (follows === undefined || !this.#isShared) return undefined
    return this.#leads && termOf(this.epoch) >= follows ? undefined : elsewhere
  }

  /** The cluster leads from now on; `epoch`: the least of its tokens. */
  begins(epoch: number): void {
    this.#leads = true
    this.epoch = Math.max(this.epoch + 1, epoch)
    this.#events?.began(this.epoch)
  }

  /** Idempotent. */
  ends(): void {
    if (!this.#leads) return
    this.#leads = false
    this.#events?.ended(elsewhere)
  }

  /** As the keeper says of itself. */
  led(term: number | undefined): void {
    if (term === undefined) this.ends()
    else this.begins(epochOf(term))
  }
}
