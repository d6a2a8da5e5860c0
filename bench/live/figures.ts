/** The response times and slowdowns of a system, over all seeds. */
import { mean, quantile } from '../../src/simulate/summary.ts'

export interface Outcome {
  sizeMs: number
  responseMs: number
}

export interface Figures {
  p50Ms: number
  p99Ms: number
  meanMs: number
  /** Slowdown: time to the answer, divided by the job's time alone. p99 of the shortest 90 %. */
  shortP99: number
  /** Its mean over the largest 5 %. */
  bigMean: number
}

export function figuresOf(outcomes: readonly Outcome[]): Figures {
  const bySize = outcomes.toSorted((a, b) => a.sizeMs - b.sizeMs)
  const slowdowns = bySize.map(({ sizeMs, responseMs }) => responseMs / sizeMs)
  const responses = bySize.map(({ responseMs }) => responseMs).sort((a, b) => a - b)
  const part = (share: number) => Math.round(slowdowns.length * share)
  return {
    p50Ms: quantile(responses, 0.5),
    p99Ms: quantile(responses, 0.99),
    meanMs: mean(responses),
    shortP99: quantile(
      slowdowns.slice(0, part(0.9)).sort((a, b) => a - b),
      0.99,
    ),
    bigMean: mean(slowdowns.slice(part(0.95))),
  }
}
