/** The learned models of a cluster: one for each workload, way of measuring and quantity. */

import type { Ledger } from '../ledger/ledger.ts'
import type { Snapshot } from '../ledger/snapshots.ts'
import type { Measure } from '../model/cost.ts'
import { threadFitter } from './learned/fitter.ts'
import { fromText, toText } from './learned/snapshot.ts'
import { type Learned, learned } from './learned.ts'
import { measureIn } from './measured-code.ts'

/** Memory depends on fewer features than work, and need not be known as precisely. */
const memoryModel = { posts: 48, growth: 1 }

export class ClusterModels {
  readonly #ledger: Ledger
  readonly #fitter: ReturnType<typeof threadFitter>
  readonly #models = new Map<string, Learned>()

  constructor(ledger: Ledger, log: (line: string) => void) {
    this.#ledger = ledger
    this.#fitter = threadFitter(log)
  }

  of(workload: string, measure: Measure, quantity: 'work' | 'memory'): Learned {
    const name = `${workload} ${measure} ${quantity}`
    const known = this.#models.get(name)
    if (known) return known
    const model = learned({
      fitter: this.#fitter,
      ...(quantity === 'memory' && memoryModel),
      made: (codeHash, made) =>
        this.#ledger.saveSnapshot({ workload, codeHash, name: quantity, at: Date.now(), json: toText(made) }),
    })
    this.#models.set(name, model)
    return model
  }

  /** Other snapshots are ignored. */
  restore({ workload, name, codeHash, json }: Snapshot): void {
    if (name !== 'work' && name !== 'memory') return
    const model = fromText(json)
    if (model) this.of(workload, measureIn(codeHash), name).restore(codeHash, model)
  }

  /** Resolves when no model is being built. */
  async settled(): Promise<void> {
    for (const model of this.#models.values()) await model.settled()
  }

  close(): Promise<void> {
    return this.#fitter.close()
  }
}
