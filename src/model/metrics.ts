/** What the meter counts, and formulas that turn it into one number. */
import { ConfigError } from '../lib/errors.ts'

export const metrics = [
  'instructions',
  'blocks',
  'fieldLoads',
  'stackLoads',
  'stores',
  'allocations',
  'calls',
  /** Taken: conditional code and turns of loops that ran. Counted in mode `regions`. */
  'branches',
] as const

export type Metric = (typeof metrics)[number]

/** Amounts by metric; a missing metric is 0. */
export type Tally = Partial<Record<Metric, number>>

/** Work is the sum of each metric times its coefficient. */
export type Formula = Readonly<Tally>

/** Instructions, with memory accesses counted twice. */
export const defaultFormula: Formula = { instructions: 1, fieldLoads: 1, stores: 1 }

export function workOf(tally: Tally, formula: Formula): number {
  let work = 0
  for (const metric of metrics) work += (tally[metric] ?? 0) * (formula[metric] ?? 0)
  return work
}

/** Adds `times` × `more` to `tally`. */
export function addTo(tally: Tally, more: Tally, times = 1): void {
  for (const metric of metrics) {
    const amount = more[metric]
    if (amount) tally[metric] = (tally[metric] ?? 0) + amount * times
  }
}

/** Throws a `ConfigError` that names what is wrong. */
export function checkFormula(formula: Formula): Formula {
  for (const [metric, coefficient] of Object.entries(formula)) {
    if (!metrics.includes(metric as Metric)) {
      throw new ConfigError(`meter: unknown metric ${metric}; metrics are ${metrics.join(', ')}`)
    }
    if (typeof coefficient !== 'number' || !(coefficient >= 0 && coefficient <= 1000)) {
      throw new ConfigError(`meter: ${metric} = ${coefficient}: must be a number from 0 to 1000`)
    }
  }
  if (!Object.values(formula).some((coefficient) => coefficient > 0)) {
    throw new ConfigError('meter: a formula must count something')
  }
  return formula
}
