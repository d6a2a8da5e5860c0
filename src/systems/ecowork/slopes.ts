/** EcoWork's estimate: for each kind of request the slope between the smallest and the largest x seen, times x. */

import type { Question, Rule } from '../../estimate/estimator.ts'
import { guessOf, isUsable } from '../../estimate/guess.ts'
import { numberIn, read, sizeOf } from '../../estimate/reading.ts'
import { type SlopeRow, SlopeTable } from './slope-table.ts'

interface Point {
  key: string
  x: number
}

export interface SlopesOptions {
  keys?: number
  /** The table of a version of the code. Default: one table for all versions. */
  tableOf?: (codeHash: string) => SlopeTable
  /** True: measurements stay pending until the table's `settle` is called. */
  later?: boolean
}

export function slopes({ keys = 1000, tableOf, later = false }: SlopesOptions = {}): Rule {
  const own = new SlopeTable(keys)
  const known = ({ codeHash }: Question) => tableOf?.(codeHash) ?? own
  return {
    guess(question) {
      const { key, x } = pointOf(question)
      const table = known(question)
      const slope = table.get(key)?.metric
      if (slope !== undefined && isUsable(slope)) {
        return guessOf(slope * x, 'model', { code: 'slope', key, slope, x })
      }
      const { mean, count } = meanSlope(table.rows())
      return guessOf(mean * x, 'model', { code: 'mean-slope', keys: count, slope: mean, x })
    },
    learn(question, value) {
      const { key, x } = pointOf(question)
      const table = known(question)
      table.note(key, x, value)
      if (!later) table.settle()
    },
  }
}

function meanSlope(rows: SlopeRow[]): { mean: number; count: number } {
  let mean = 0
  let count = 0
  for (const { metric } of rows) if (isUsable(metric)) mean += (metric - mean) / ++count
  return { mean, count }
}

/** For workloads that the document does not have: the categories as key, and the size as x. */
function pointOf(question: Question): Point {
  const own = Object.hasOwn(points, question.workload) ? points[question.workload]!(question) : undefined
  if (own) return own
  const reading = read(question.features)
  return { key: [...reading.categories.values()].join(':'), x: sizeOf(question, reading) ?? 1 }
}

const points: Record<string, (question: Question) => Point | undefined> = {
  'foxes-rabbits'({ features: { habitat, generations } }) {
    if (typeof habitat !== 'string' || typeof generations !== 'number') return undefined
    return { key: habitat, x: generations }
  },
  'insect-war'({ params, features: { insectRounds } }) {
    const [army1 = 0, army2 = 0] = [numberIn(params, 'army1'), numberIn(params, 'army2')]
    if (!(army1 > 0 && army2 > 0) || typeof insectRounds !== 'number') return undefined
    const even = 2 * Math.ceil(Math.max(army1, army2) / Math.min(army1, army2) / 2)
    return { key: `<=${even > 8 ? 'infinity' : even}`, x: insectRounds }
  },
  compress({ features: { output, quality, pixels } }) {
    if (typeof output !== 'string' || typeof pixels !== 'number') return undefined
    const tenths = typeof quality === 'number' ? Math.round(quality * 10) / 10 : 'any'
    return { key: output === 'bmp' ? output : `${output}:${tenths}`, x: pixels }
  },
}
