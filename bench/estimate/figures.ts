/** The accuracy of estimates. */
import { mean, median, quantile } from '../../src/simulate/summary.ts'
import type { Answer } from './trial.ts'

export interface Figures {
  /** q-error: the larger of answer ÷ actual and actual ÷ answer. */
  median: number
  p95: number
  /** The share of actual costs inside their intervals: over all, and in the worst third. */
  coverage: number
  leastCoverage: number
  /** Winkler's interval score of logarithms: width, plus 20 times the distance of a cost outside. */
  score: number
}

export function figuresOf(answers: readonly Answer[]): Figures {
  const errors = answers.map(({ actual, value }) => Math.exp(Math.abs(Math.log(actual / value))))
  const sorted = errors.toSorted((a, b) => a - b)
  return {
    median: median(errors),
    p95: quantile(sorted, 0.95),
    coverage: coverage(answers),
    leastCoverage: Math.min(...thirds(answers).map(coverage)),
    score: mean(answers.map(winkler)),
  }
}

function coverage(answers: readonly Answer[]): number {
  return answers.filter(({ actual, low, high }) => low <= actual && actual <= high).length / answers.length
}

/** By actual cost. */
function thirds(answers: readonly Answer[]): Answer[][] {
  const sorted = answers.toSorted((a, b) => a.actual - b.actual)
  const at = (third: number) => Math.floor((third * sorted.length) / 3)
  return [0, 1, 2].map((third) => sorted.slice(at(third), at(third + 1)))
}

function winkler({ actual, low, high }: Answer): number {
  const [y, l, h] = [Math.log(actual), Math.log(low), Math.log(high)]
  return h - l + 20 * (Math.max(0, l - y) + Math.max(0, y - h))
}
