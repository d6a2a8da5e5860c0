/** Quotes at a front in another process: the brain answers them. */

import type { Question } from '../../estimate/estimator.ts'
import type { RequestProblem } from '../../front/problem.ts'
import { type Asked, type FromFront, longestParams, type ToFront } from '../../wire/front-messages.ts'
import { problemOf } from './pending-requests.ts'

export interface RemoteQuotesParts {
  /** Time limit for the brain's answer. */
  holdMs: number
  /** The problem of requests while the brain is unreachable. */
  noBrain(): RequestProblem
  link(): { isUp: boolean; send(message: FromFront): void }
}

interface Open {
  about: Asked
  answer: PromiseWithResolvers<unknown>
  timer: NodeJS.Timeout
}

export class RemoteQuotes {
  readonly #parts: RemoteQuotesParts
  readonly #open = new Map<number, Open>()
  #count = 0

  constructor(parts: RemoteQuotesParts) {
    this.#parts = parts
  }

  /** Rejects with a 503 if the brain does not answer in time, or with the problem that it reports. */
  ask(about: Asked): Promise<unknown> {
    const { link, holdMs, noBrain } = this.#parts
    if (!link().isUp) return Promise.reject(noBrain())
    const answer = Promise.withResolvers<unknown>()
    const ask = ++this.#count
    const timer = setTimeout(() => {
      this.#open.delete(ask)
      answer.reject(noBrain())
    }, holdMs)
    this.#open.set(ask, { about, answer, timer })
    link().send({ type: 'ask', ask, about })
    return answer.promise
  }

  receive({ ask, quote, problem }: Extract<ToFront, { type: 'quote' }>): void {
    const open = this.#open.get(ask)
    if (!open) return
    this.#open.delete(ask)
    clearTimeout(open.timer)
    if (problem) open.answer.reject(problemOf(problem))
    else open.answer.resolve(quote)
  }

  /** Repeats open questions to a new brain. */
  askAgain(): void {
    for (const [ask, { about }] of this.#open) this.#parts.link().send({ type: 'ask', ask, about })
  }
}

/** Parameters that are long or not serializable are left out. */
export function askedOf({ workload, key, features, params }: Question): Asked {
  const asked = { workload, key, features }
  try {
    return (JSON.stringify(params)?.length ?? Infinity) > longestParams ? asked : { ...asked, params }
  } catch {
    return asked
  }
}
