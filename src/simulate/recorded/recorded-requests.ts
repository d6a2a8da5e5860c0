/** Draws recorded requests for a run: some are new, some repeat an earlier one. */

import type { Question } from '../../estimate/estimator.ts'
import { type Random, stream } from '../../lib/random.ts'
import type { Sizes } from '../sizes.ts'
import { mean } from '../summary.ts'
import { type RecordedRequest, recordingOf } from './recording.ts'

/**
 * The share of requests that repeat an earlier one of the run. The documents of the systems do not say how often clients
 * repeat themselves; all of them but one remember requests.
 */
export const repeats = 0.5

export interface MixedRequest extends RecordedRequest {
  workload: string
}

/** The recorded requests of several workloads. */
export function recordedRequests(workloads: readonly string[]): MixedRequest[] {
  return workloads.flatMap((workload) =>
    recordingOf(workload).requests.map((request) => ({ ...request, workload })),
  )
}

/** A request of a run. */
export interface DrawnRequest {
  request: MixedRequest
  question: Question
}

/**
 * New requests go through the recording in an order drawn from the seed, again and again. A request of a later pass has
 * the parameters and cost of one of the first, but another key and another map: nobody remembers it.
 */
export class RecordedRequests {
  readonly sizes: Sizes
  readonly #order: readonly MixedRequest[]
  #sent = 0
  #last: DrawnRequest | undefined

  constructor(requests: readonly MixedRequest[], workPerSecond: number, seed: number) {
    this.#order = shuffled(requests, stream(seed, 'order of requests'))
    this.sizes = {
      name: 'recorded',
      meanSeconds: mean(requests.map(({ work }) => work)) / workPerSecond,
      draw: (random) => this.#draw(random).work / workPerSecond,
    }
  }

  /** The request whose size was drawn last. */
  get last(): DrawnRequest {
    return this.#last!
  }

  #draw(random: Random): MixedRequest {
    const isRepeat = this.#sent > 0 && random.next() < repeats
    const number = isRepeat ? random.below(this.#sent) : this.#sent++
    const request = this.#order[number % this.#order.length]!
    const { workload, features } = request
    const params = onOtherMap(request.params, Math.floor(number / this.#order.length))
    this.#last = { request, question: { workload, codeHash: 'recorded', key: `${number}`, params, features } }
    return request
  }
}

/** Each pass has maps of its own. Uploads are told apart by the key. */
function onOtherMap(params: Record<string, unknown>, pass: number): Record<string, unknown> {
  const { map } = params
  return pass > 0 && typeof map === 'number' ? { ...params, map: map + pass * 2 ** 32 } : params
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const order = [...items]
  for (let i = order.length - 1; i > 0; i--) {
    const other = random.below(i + 1)
    const item = order[i]!
    order[i] = order[other]!
    order[other] = item
  }
  return order
}
