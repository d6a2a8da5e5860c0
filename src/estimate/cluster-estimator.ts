/**
 * What a cluster estimates with: what is known exactly, else what is learned, else the mean so far, else a prior. It
 * starts from what the ledger remembers and saves its models there.
 */

import type { Ledger, WarmRow } from '../ledger/ledger.ts'
import type { Measure } from '../model/cost.ts'
import type { Features } from '../model/estimate.ts'
import { rankStore } from '../systems/cloudprime/rank-store.ts'
import { type StoredRow, type StoreTrained, storeTrained } from '../systems/cnv/store-trained.ts'
import { slopeStore, slopesName } from '../systems/ecowork/slope-store.ts'
import { type Ruled, ruledWork } from '../systems/estimators.ts'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import type { Estimator, Measurement, Question, Rule } from './estimator.ts'
import { threadFitter } from './learned/fitter.ts'
import { fromText, toText } from './learned/snapshot.ts'
import { type Learned, learned } from './learned.ts'
import { measureIn } from './measured-code.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { readQuantities } from './quantities.ts'
import { ruleEstimator } from './rules-estimator.ts'

export interface ClusterEstimatorOptions {
  /** The nominal rate of a core. */
  workPerCpuMs: number
  /** How work is estimated in place of what is learned. Default: not so. */
  ruled?: Ruled
  /** Where a rule that keeps ranks in a file keeps them. Default: nowhere. */
  ranksFile?: string
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
  ranksFile,
  ignores = () => false,
  ledger,
  log,
}: ClusterEstimatorOptions): ClusterEstimator {
  const fitter = threadFitter(log)
  const models = new Map<string, Learned>()
  const ranks =
    ruled?.rule === 'rank-memo' && ranksFile !== undefined
      ? rankStore({ file: ranksFile, store: ledger, log })
      : undefined
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

  const trained = new Map<string, StoreTrained>()
  const training = new Set<Promise<void>>()
  /** Workloads whose rows are being read: they have their models when that is done. */
  const warming = new Set<string>()

  function trainedOf(workload: string, measure: Measure, names: readonly string[]): StoreTrained {
    const rule = storeTrained(names, async () => {
      if (warming.has(workload)) return
      const task = retrain(workload, rule)
      training.add(task)
      await task
      training.delete(task)
    })
    trained.set(`${workload} ${measure}`, rule)
    return rule
  }

  async function retrain(workload: string, rule: StoreTrained): Promise<void> {
    try {
      // The row that was one too many is recorded right after it was learned from.
      await Promise.resolve()
      await ledger.flush()
      const rows = storedRows(workload, await ledger.warm({ workload }))
      log(`retraining: the models of ${workload} are made anew of ${rule.train(rows)} rows`)
    } catch (error) {
      log(`retraining: the models of ${workload} stay as they are: ${(error as Error).message}`)
    }
  }

  function rulesFor(workload: string, measure: Measure): Rule[] {
    if (!ruled) return [memo(), modelOf(workload, measure, 'work')]
    if (tables) return [tables.rule(workload)]
    return [
      ruled.quantities
        ? trainedOf(workload, measure, ruled.quantities)
        : ruledWork(ruled, ranks && { ranks }),
    ]
  }

  const estimator = ruleEstimator({
    work: (workload, measure) => chain(...rulesFor(workload, measure), constant(), priorWork(workPerCpuMs)),
    memory: (workload, measure) =>
      chain(memo(), modelOf(workload, measure, 'memory'), constant(), priorMemory()),
  })

  return {
    ...estimator,
    ...(ranks && { look: ranks.look }),
    async warm(workload, learnt = () => {}) {
      warming.add(workload)
      try {
        const [rows, snapshots] = await Promise.all([ledger.warm({ workload }), ledger.snapshots(workload)])
        for (const row of rows) {
          const question = questionOf(workload, row)
          if (!question || ignores(row.worker, workload)) continue
          estimator.recall(question, measurementOf(row))
          learnt(row)
        }
        const stored = storedRows(workload, rows)
        for (const [name, rule] of trained)
          if (name.startsWith(`${workload} `) && stored.length > 0)
            log(`retraining: the models of ${workload} are made of ${rule.train(stored)} rows`)
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
      } finally {
        warming.delete(workload)
      }
    },
    async settled() {
      for (const model of models.values()) await model.settled()
      await Promise.all(training)
    },
    async close() {
      tables?.close()
      await ranks?.settled()
      await Promise.all(training)
      await fitter.close()
    },
    async store(question, measured) {
      if (!tables) return
      tables.rule(question.workload).learn(question, measured.work)
      tables.write()
      await ledger.flush().catch((error: Error) => log(`estimate: ${error.message}`))
    },
  }
}

function measurementOf({ quantities, ...row }: WarmRow): Measurement {
  const amounts = readQuantities(quantities)
  return { ...row, ...(amounts && { quantities: amounts }) }
}

/** Those that say what their work is the sum of. */
function storedRows(workload: string, rows: readonly WarmRow[]): StoredRow[] {
  return rows.flatMap((row) => {
    const question = questionOf(workload, row)
    const quantities = readQuantities(row.quantities)
    return question && quantities ? [{ question, work: row.work, quantities }] : []
  })
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
