/** What a request may cost at most: the field `plimsoll-max-cost`, checked against the quote before the request runs. */

import type { IncomingMessage } from 'node:http'
import { span } from '../../lib/quantities.ts'
import { type MaxCost, maxCostRule, readMaxCost } from '../../model/max-cost.ts'
import { RequestProblem } from '../problem.ts'
import type { EstimatedRequest } from './request.ts'

/** The parts of a quote that are checked. */
interface QuotedCost {
  source: string
  seconds: { expected: number; low: number }
  price?: { expected: number; low: number }
}

/** Undefined: anything. Throws a 400. */
export function maxCostOf({ headers }: Pick<IncomingMessage, 'headers'>): MaxCost | undefined {
  const given = headers['plimsoll-max-cost']
  if (given === undefined) return undefined
  const most = readMaxCost(String(given))
  if (most) return most
  throw badMaxCost(String(given), maxCostRule)
}

function badMaxCost(text: string, rule: string): RequestProblem {
  return new RequestProblem(400, 'bad-max-cost', `plimsoll-max-cost = ${text.slice(0, 100)}: ${rule}.`)
}

export interface CostParts {
  describeQuote(question: EstimatedRequest['question'], quote: EstimatedRequest['quote']): unknown
}

/**
 * The CPU time in milliseconds that the request may use. Rejects with a 422 if nearly all such requests cost more, that
 * is if the low end of the quote's interval is above the maximum; then the body is discarded.
 */
export async function maxCpuMsOf(
  { describeQuote }: CostParts,
  { question, quote, body }: EstimatedRequest,
  most: MaxCost,
): Promise<number> {
  try {
    return checkedMs((await describeQuote(question, quote)) as QuotedCost, most)
  } catch (error) {
    const isAway = error instanceof RequestProblem && error.code === 'no-brain'
    // Without the quote, the request may still be ended when it reaches the limit.
    if (isAway && 'ms' in most) return most.ms
    body.discard()
    throw error
  }
}

/** The same, for a quote. Infinity: the cluster charges nothing. */
export function checkedMs(quote: QuotedCost, most: MaxCost): number {
  const lowMs = quote.seconds.low * 1000
  const ms = 'ms' in most ? most.ms : msFor(quote, most)
  // The prior is an assumption, which no request has shown to be right.
  if (lowMs <= ms || quote.source === 'prior') return ms
  const needs = `Nearly all such requests need more than ${span(lowMs)} of CPU time`
  throw new RequestProblem(
    422,
    'too-costly',
    `${needs}, and plimsoll-max-cost = ${most.text} allows ${span(ms)}.`,
    { fields: { maxCost: most.text, quote } },
  )
}

/** The CPU time that this price buys. */
function msFor({ seconds, price }: QuotedCost, most: MaxCost & { price: number }): number {
  if (!price) throw badMaxCost(most.text, 'this cluster has no prices; CPU time such as 90s is allowed')
  const pricePerMs = price.expected / (seconds.expected * 1000)
  return pricePerMs > 0 ? most.price / pricePerMs : Infinity
}
