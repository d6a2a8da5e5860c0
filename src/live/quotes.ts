/** Quotes of a live cluster. */

import type { Question, Quote } from '../estimate/estimator.ts'
import { quoteDocument } from '../estimate/quote.ts'
import { explainEstimate } from '../systems/reasons.ts'
import type { Core } from './core.ts'

export type QuoteDescriber = (question: Question, quote: Quote) => unknown

export function quoteDescriber({ plan, records: { rates }, brain, jobs }: Core): QuoteDescriber {
  const { options, serving, spec } = plan
  const { units } = serving
  return (question, quote) =>
    quoteDocument(question, quote, {
      view: brain.view(),
      rates: units ?? rates,
      ...(units && { brain: { work: (work) => units.inMicroseconds(question.workload, work), rates } }),
      discipline: spec.discipline,
      jobOf: (id) => jobs.get(id)?.parts.job,
      overheadOf: (id) => jobs.get(id)?.parts.quote.overhead,
      pricePerHour: options.pricePerHour,
      explain: explainEstimate,
    })
}
