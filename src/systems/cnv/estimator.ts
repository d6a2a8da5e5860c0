/**
 * The estimator of CNV: each quantity as stored for the same request, else by a model built from the ledger's rows, which
 * is rebuilt as rows are added, else by a formula.
 */

import type { Question } from '../../estimate/estimator.ts'
import { isUsable } from '../../estimate/guess.ts'
import { readQuantities } from '../../estimate/quantities.ts'
import { questionOf } from '../../estimate/warm-rows.ts'
import type { WorkEstimator } from '../../estimate/work-estimator.ts'
import type { WarmRow } from '../../ledger/ledger.ts'
import type { Quantities } from '../../model/metering.ts'
import type { EstimatorParts } from '../estimator.ts'
import { logPolynomial } from './log-polynomial.ts'
import { type StoredRow, type StoreTrained, storeTrained } from './store-trained.ts'

export interface PolynomialEstimatorOptions {
  /** The quantities whose sum is the work. Each has its own model. Undefined: one model of the work itself. */
  quantities?: readonly string[]
  /** The quantities of a cell of Gray-Scott in one iteration. Default: those of CNV. */
  cell?: Quantities
}

export function polynomialEstimator(
  { quantities, cell }: PolynomialEstimatorOptions,
  parts: EstimatorParts,
): WorkEstimator {
  return quantities ? new Retraining(quantities, cell, parts) : { rule: () => logPolynomial() }
}

/** Stored rows of a request that are read; the newest of them may have failed. */
const rowsLooked = 5

class Retraining implements WorkEstimator {
  readonly #quantities: readonly string[]
  readonly #cell: Quantities | undefined
  readonly #parts: EstimatorParts
  /** Rules by workload: one for each way of measuring. */
  readonly #rules = new Map<string, StoreTrained[]>()
  readonly #training = new Set<Promise<void>>()
  /** Workloads whose rows are being learned: `warmed` builds their models. */
  readonly #warming = new Set<string>()

  constructor(quantities: readonly string[], cell: Quantities | undefined, parts: EstimatorParts) {
    this.#quantities = quantities
    this.#cell = cell
    this.#parts = parts
  }

  rule(workload: string): StoreTrained {
    const rule = storeTrained(
      this.#quantities,
      async () => {
        if (this.#warming.has(workload)) return
        const task = this.#retrain(workload, rule)
        this.#training.add(task)
        await task
        this.#training.delete(task)
      },
      this.#cell,
    )
    this.#rules.set(workload, [...(this.#rules.get(workload) ?? []), rule])
    return rule
  }

  /** Memory does not have all rows of a large store, and other processes may have written some since. */
  async look(question: Question): Promise<void> {
    const { workload, codeHash, key } = question
    const rules = this.#rules.get(workload) ?? []
    if (key === '' || rules.every((rule) => rule.knows(question))) return
    const { ledger, log } = this.#parts
    try {
      for (const { outcome, work, quantities } of await ledger.recent({
        ...{ workload, codeHash, key },
        limit: rowsLooked,
      })) {
        const amounts = readQuantities(quantities)
        if (outcome !== 'result' || !amounts || !isUsable(work)) continue
        // A measurement may have arrived meanwhile.
        for (const rule of rules)
          if (!rule.knows(question)) rule.recall({ question, work, quantities: amounts })
        return
      }
    } catch (error) {
      log(`estimate: the ledger has no rows of ${workload}: ${(error as Error).message}`)
    }
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
