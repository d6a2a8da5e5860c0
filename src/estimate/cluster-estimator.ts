/**
 * The estimator of a cluster: the same request as before, else a learned model, else the mean so far, else a prior. It
 * starts from the rows of the ledger and saves its models there. A system may replace how work is estimated.
 */

import type { Ledger, WarmRow } from '../ledger/ledger.ts'
import type { Measure } from '../model/cost.ts'
import { chain } from './chain.ts'
import { ClusterModels } from './cluster-models.ts'
import { constant } from './constant.ts'
import type { Estimator, Measurement, Question, Rule } from './estimator.ts'
import type { Model } from './learned/fit.ts'
import { measureIn } from './measured-code.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { ruleEstimator } from './rules-estimator.ts'
import { measurementOf, questionOf } from './warm-rows.ts'
import type { WorkEstimator } from './work-estimator.ts'

export interface ClusterEstimatorOptions {
  /** The nominal rate of a core. */
  workPerCpuMs: number
  /** Estimates work in place of the learned models. */
  work?: WorkEstimator
  /** True: measurements of this workload on this worker are not learned. */
  ignores?: (worker: string, workload: string) => boolean
  ledger: Ledger
  log(line: string): void
}

export interface ClusterEstimator extends Estimator {
  /** Starts from a model that came with the workload. Call before `warm`. `codeHash`: of the code that was measured. */
  start(workload: string, codeHash: string, model: Model): void
  /** Learns the stored rows of a workload. A ledger that cannot be read is logged and otherwise ignored. */
  warm(workload: string, learnt?: (row: WarmRow) => void): Promise<void>
  /** Resolves when the measurement of a function is stored, if the estimator requires that. */
  store(question: Question, measured: Measurement): Promise<void>
  /** Resolves when no model is being built. */
  settled(): Promise<void>
  close(): Promise<void>
}

export function clusterEstimator({
  workPerCpuMs,
  work,
  ignores = () => false,
  ledger,
  log,
}: ClusterEstimatorOptions): ClusterEstimator {
  const models = new ClusterModels(ledger, log)
  const workRules = (workload: string, measure: Measure): Rule[] =>
    work ? [work.rule(workload, measure)] : [memo(), models.of(workload, measure, 'work')]
  const estimator = ruleEstimator({
    work: (workload, measure) => chain(...workRules(workload, measure), constant(), priorWork(workPerCpuMs)),
    memory: (workload, measure) =>
      chain(memo(), models.of(workload, measure, 'memory'), constant(), priorMemory()),
  })

  const learnStored = async (workload: string, learnt: (row: WarmRow) => void): Promise<void> => {
    const [rows, snapshots] = await Promise.all([ledger.warm({ workload }), ledger.snapshots(workload)])
    for (const row of rows) {
      const question = questionOf(workload, row)
      if (!question || ignores(row.worker, workload)) continue
      estimator.recall(question, measurementOf(row))
      learnt(row)
    }
    for (const snapshot of snapshots) {
      models.restore(snapshot)
      work?.restore?.(snapshot)
    }
    work?.warmed?.(workload, rows)
  }

  return {
    ...estimator,
    ...(work?.look && { look: (question: Question) => work.look!(question) }),
    start(workload, codeHash, model) {
      if (!work) models.of(workload, measureIn(codeHash), 'work').start(codeHash, model)
    },
    async warm(workload, learnt = () => {}) {
      work?.warming?.(workload, true)
      try {
        await learnStored(workload, learnt)
      } catch (error) {
        log(`estimate: ${workload} starts with nothing learned: ${(error as Error).message}`)
      } finally {
        work?.warming?.(workload, false)
      }
    },
    async store(question, measured) {
      await work?.store?.(question, measured)
    },
    async settled() {
      await models.settled()
      await work?.settled?.()
    },
    async close() {
      await work?.close?.()
      await models.close()
    },
  }
}
