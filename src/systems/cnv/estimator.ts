/** The estimator of CNV: each quantity by a model built from the ledger's rows, and rebuilt as rows are added. */

import { readQuantities } from '../../estimate/quantities.ts'
import { questionOf } from '../../estimate/warm-rows.ts'
import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import type { WarmRow } from '../../ledger/ledger.ts'
import type { EstimatorParts } from '../estimator.ts'
import { logPolynomial } from './log-polynomial.ts'
import { type StoredRow, type StoreTrained, storeTrained } from './store-trained.ts'

export interface PolynomialEstimatorOptions {
  /** The quantities whose sum is the work. Each has its own model. Undefined: one model of the work itself. */
  quantities?: readonly string[]
}

export function polynomialEstimator(
  { quantities }: PolynomialEstimatorOptions,
  parts: EstimatorParts,
): WorkEstimator {
  return quantities ? new Retraining(quantities, parts) : { rule: () => logPolynomial() }
}

class Retraining implements WorkEstimator {
  readonly #quantities: readonly string[]
  readonly #parts: EstimatorParts
  /** Rules by workload: one for each way of measuring. */
  readonly #rules = new Map<string, StoreTrained[]>()
  readonly #training = new Set<Promise<void>>()
  /** Workloads whose rows are being learned: `warmed` builds their models. */
  readonly #warming = new Set<string>()

  constructor(quantities: readonly string[], parts: EstimatorParts) {
    this.#quantities = quantities
    this.#parts = parts
  }

  rule(workload: string): StoreTrained {
    const rule = storeTrained(this.#quantities, async () => {
      if (this.#warming.has(workload)) return
      const task = this.#retrain(workload, rule)
      this.#training.add(task)
      await task
      this.#training.delete(task)
    })
    this.#rules.set(workload, [...(this.#rules.get(workload) ?? []), rule])
    return rule
  }

  warming(workload: string, isWarming: boolean): void {
    if (isWarming) this.#warming.add(workload)
    else this.#warming.delete(workload)
  }

  warmed(workload: string, rows: readonly WarmRow[]): void {
    const stored = storedRows(workload, rows)
    if (stored.length === 0) return
    for (const rule of this.#rules.get(workload) ?? [])
      this.#parts.log(`retraining: models of ${workload} built from ${rule.train(stored)} rows`)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#training)
  }

  close(): Promise<void> {
    return this.settled()
  }

  async #retrain(workload: string, rule: StoreTrained): Promise<void> {
    const { ledger, log } = this.#parts
    try {
      // The newest row is recorded right after it was learned.
      await Promise.resolve()
      await ledger.flush()
      const rows = storedRows(workload, await ledger.warm({ workload }))
      log(`retraining: models of ${workload} rebuilt from ${rule.train(rows)} rows`)
    } catch (error) {
      log(`retraining: models of ${workload} not rebuilt: ${(error as Error).message}`)
    }
  }
}

/** Rows whose quantities are known. */
function storedRows(workload: string, rows: readonly WarmRow[]): StoredRow[] {
  return rows.flatMap((row) => {
    const question = questionOf(workload, row)
    const quantities = readQuantities(row.quantities)
    return question && quantities ? [{ question, work: row.work, quantities }] : []
  })
}
