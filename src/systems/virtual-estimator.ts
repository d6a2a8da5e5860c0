/** The estimator of a preset for simulations: what a live cluster would use, with its stored rows in memory. */

import { chain } from '../estimate/chain.ts'
import { constant } from '../estimate/constant.ts'
import type { Estimator, Measurement, Question } from '../estimate/estimator.ts'
import { inlineFitter } from '../estimate/learned/fitter.ts'
import { type Learned, learned } from '../estimate/learned.ts'
import { memo } from '../estimate/memo.ts'
import { priorMemory, priorWork } from '../estimate/prior.ts'
import { ruleEstimator } from '../estimate/rules-estimator.ts'
import type { WorkEstimator } from '../estimate/work-estimator.ts'
import { defaultWarmLimit, type Ledger, type WarmRow } from '../ledger/ledger.ts'
import { type EstimatorSpec, estimatorOf } from './estimators.ts'

export interface VirtualEstimator extends Estimator {
  /** Resolves when no model is being built. Await it after `learn`. */
  settled(): Promise<void>
}

/** Smaller and less often refitted than those of a live cluster, so that a simulated day takes seconds. */
const smallModel = { posts: 64, rows: 400, growth: 1 }

/** `spec`: undefined for the learned models. `workPerCpuMs`: the rate of a core. */
export function virtualEstimator(spec: EstimatorSpec | undefined, workPerCpuMs: number): VirtualEstimator {
  const rows = new VirtualRows()
  const work = spec ? estimatorOf(spec, { ledger: rows.ledger, log() {} }) : learnedModels()
  const rules = ruleEstimator({
    work: (workload, measure) => chain(work.rule(workload, measure), constant(), priorWork(workPerCpuMs)),
    memory: priorMemory,
  })
  return {
    estimate: (question) => rules.estimate(question),
    learn(question, measured) {
      // A live cluster learns a row right before it records it.
      rules.learn(question, measured)
      if (measured.quantities) rows.add(question, measured)
    },
    settled: async () => work.settled?.(),
  }
}

/** Without the models that come with workloads, whose costs are in other units. */
function learnedModels(): WorkEstimator {
  const models: Learned[] = []
  return {
    rule() {
      const model = learned({ fitter: inlineFitter(), ...smallModel })
      models.push(model)
      return chain(memo(), model)
    },
    async settled() {
      for (const model of models) await model.settled()
    },
  }
}

/** The newest rows of each workload, of which estimators build their models. */
class VirtualRows {
  readonly #rows = new Map<string, WarmRow[]>()
  readonly ledger: Ledger = {
    ...{ record() {}, recordMetrics() {}, releaseMetrics() {}, saveSnapshot() {} },
    warm: async ({ workload, limit = defaultWarmLimit }) => (this.#rows.get(workload) ?? []).slice(-limit),
    metricsFor: async () => undefined,
    recentMetrics: async () => [],
    snapshots: async () => [],
    recent: async () => [],
    counts: async () => ({ rows: 0, dropped: 0, skipped: 0 }),
    flush: async () => {},
    close: async () => {},
  }

  add({ workload, codeHash, key, params, features }: Question, { work, quantities }: Measurement): void {
    let rows = this.#rows.get(workload)
    if (!rows) {
      rows = []
      this.#rows.set(workload, rows)
    }
    rows.push({
      ...{ codeHash, key, work, worker: '', measure: 'meter', cpuMs: 0, wallMs: 0, peakMemoryMb: 0 },
      ...{ parameters: JSON.stringify(params), features: JSON.stringify(features) },
      quantities: JSON.stringify(quantities),
    })
    if (rows.length > 2 * defaultWarmLimit) rows.splice(0, defaultWarmLimit)
  }
}
