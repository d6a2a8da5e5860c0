/**
 * What a cluster estimates with: what is known exactly, else what is learned, else the mean so far, else a prior. It
 * starts from what the ledger remembers and saves its models there.
 */

import type { Ledger, WarmRow } from '../ledger/ledger.ts'
import type { Measure } from '../wire/messages.ts'
import type { Features } from '../workload.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import type { Estimator, Measurement, Question } from './estimator.ts'
import { threadFitter } from './learned/fitter.ts'
import { fromText, toText } from './learned/snapshot.ts'
import { type Learned, learned } from './learned.ts'
import { measureIn } from './measured-code.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { type Ruled, ruledWork } from './ruled.ts'
import { ruleEstimator } from './rules-estimator.ts'
import { slopeStore, slopesName } from './slope-store.ts'

export interface ClusterEstimatorOptions {
  /** The nominal rate of a core. */
  workPerCpuMs: number
  /** How work is estimated in place of what is learned. Default: not so. */
  ruled?: Ruled
  /** True: what was measured there of this workload is not learned from. */
  ignores?: (place: string, workload: string) => boolean
  ledger: Ledger
  log(line: string): void
}

export interface ClusterEstimator extends Estimator {
  /** Learns what the ledger remembers of a workload. A ledger that cannot be read is reported, and that is all. */
  warm(workload: string, learnt?: (row: WarmRow) => void): Promise<void>
  /** What a function has measured is stored when this resolves, where that is the estimator's rule. */
  store(question: Question, measured: Measurement): Promise<void>
  /** Resolves when no model is being made. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** Memory depends on less, and is asked for as often; and it need not be known as well. */
const memoryModel = { posts: 48, growth: 1 }

export function clusterEstimator({
  workPerCpuMs,
  ruled,
  ignores = () => false,
  ledger,
  log,
}: ClusterEstimatorOptions): ClusterEstimator {
  const fitter = threadFitter(log)
  const models = new Map<string, Learned>()
  const tables =
    ruled?.rule === 'slopes' && ruled.writeEveryMs !== undefined
      ? slopeStore(ledger, ruled.writeEveryMs)
      : undefined

  function modelOf(workload: string, measure: Measure, quantity: 'work' | 'memory'): Learned {
    const name = `${workload} ${measure} ${quantity}`
    const known = models.get(name)
    if (known) return known
    const model = learned({
      fitter,
      ...(quantity === 'memory' && memoryModel),
      made: (codeHash, model) =>
        ledger.saveSnapshot({ workload, codeHash, name: quantity, at: Date.now(), json: toText(model) }),
    })
    models.set(name, model)
    return model
  }

  const estimator = ruleEstimator({
    work: (workload, measure) =>
      chain(
        ...(tables
          ? [tables.rule(workload)]
          : ruled
            ? [ruledWork(ruled)]
            : [memo(), modelOf(workload, measure, 'work')]),
        constant(),
        priorWork(workPerCpuMs),
      ),
    memory: (workload, measure) =>
      chain(memo(), modelOf(workload, measure, 'memory'), constant(), priorMemory()),
  })

  return {
    ...estimator,
    async warm(workload, learnt = () => {}) {
      try {
        const [rows, snapshots] = await Promise.all([ledger.warm({ workload }), ledger.snapshots(workload)])
        for (const row of rows) {
          const question = questionOf(workload, row)
          if (!question || ignores(row.worker, workload)) continue
          estimator.recall(question, row)
          learnt(row)
        }
        for (const snapshot of snapshots) {
          const { name, codeHash, json } = snapshot
          if (name === slopesName) {
            tables?.restore(snapshot)
            continue
          }
          const model = fromText(json)
          if (model && (name === 'work' || name === 'memory'))
            modelOf(workload, measureIn(codeHash), name).restore(codeHash, model)
        }
        tables?.write()
      } catch (error) {
        log(`estimate: ${workload} starts with nothing learned: ${(error as Error).message}`)
      }
    },
    async settled() {
      for (const model of models.values()) await model.settled()
    },
    async store(question, measured) {
      if (!tables) return
      tables.rule(question.workload).learn(question, measured.work)
      tables.write()
      await ledger.flush().catch((error: Error) => log(`estimate: ${error.message}`))
    },
    async close() {
      tables?.close()
      await fitter.close()
    },
  }
}

/** Undefined: what it was about cannot be read. */
function questionOf(
  workload: string,
  { codeHash, key, parameters, features }: WarmRow,
): Question | undefined {
  try {
    const seen: unknown = JSON.parse(features)
    if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) return undefined
    return { workload, codeHash, key, params: JSON.parse(parameters), features: seen as Features }
  } catch {
    return undefined
  }
}
