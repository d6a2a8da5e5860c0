/** CNV's rough heuristic: a formula of the parameters, for requests of which neither the store nor a model knows anything. */

import type { Rule } from '../../estimate/estimator.ts'
import { guessOf } from '../../estimate/guess.ts'
import type { Features } from '../../model/estimate.ts'
import type { Quantities } from '../../model/metering.ts'
import { cnvConstants } from './cell.ts'

/** Amounts for each step that the workloads' features count; docs/systems/cnv.md has the measurements. */
const perStep = {
  julia: { instCount: 70, totalAccesses: 1.3 },
  search: { instCount: 49, totalAccesses: 1.8 },
  align: { instCount: 233, totalAccesses: 11.3 },
} as const

const usualCell: Quantities = {
  instCount: cnvConstants.cellInstructions,
  totalAccesses: cnvConstants.cellAccesses,
}

type Formula = (features: Features, cell: Quantities) => Quantities | undefined

/** By workload. */
const formulas: Readonly<Record<string, Formula>> = {
  julia: ({ steps }) => times(steps, perStep.julia),
  dna: ({ mode, steps }) => times(steps, mode === 'align' ? perStep.align : perStep.search),
  // The cost is known in advance, unless the pattern becomes stable before the last iteration.
  grayscott: ({ cellSteps, steps }, cell) => times(Math.min(Number(cellSteps), Number(steps)), cell),
}

/** Guesses one quantity. Has no guess for workloads without a formula. */
export function rough(quantity: string, cell: Quantities = usualCell): Rule {
  return {
    guess({ workload, features }) {
      const formula = Object.hasOwn(formulas, workload) ? formulas[workload] : undefined
      const amount = formula?.(features, cell)?.[quantity]
      return amount === undefined ? undefined : guessOf(amount, 'prior', { code: 'rough' })
    },
    learn() {},
  }
}

/** An amount of 0 is guessed as 1, as it is learned: guesses are above 0. */
function times(steps: unknown, each: Quantities): Quantities | undefined {
  if (typeof steps !== 'number' || !(steps >= 0 && steps < Infinity)) return undefined
  return Object.fromEntries(Object.entries(each).map(([name, amount]) => [name, Math.max(1, steps * amount)]))
}
