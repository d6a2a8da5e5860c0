/** HillClimbing's estimate: the mean of the most similar requests, scaled by the squared side. */

import { chain } from '../../estimate/chain.ts'
import type { Guess, Rule } from '../../estimate/estimator.ts'
import { guessOf, isUsable } from '../../estimate/guess.ts'
import { memo } from '../../estimate/memo.ts'
import { isNear, type Likeness, likenessReader } from './likeness.ts'

export interface SimilarRequestsOptions {
  /** The number of newest requests compared. */
  rows?: number
  /** The number of requests remembered exactly. */
  keys?: number
  /** The guess while nothing has been learned. Default: none. */
  unknown?: number
}

interface Row extends Likeness {
  value: number
  /** log(value ÷ side²): the same for requests that differ only in their side. */
  level: number
}

/** The document's groups, the most similar first; in the first two the same strategy is preferred. */
const groups = [
  { group: 'same-map', strategy: 'same' },
  { group: 'same-map', strategy: 'any' },
  { group: 'similar-size', strategy: 'same' },
  { group: 'similar-size', strategy: 'any' },
  { group: 'same-strategy', strategy: 'same' },
  { group: 'all', strategy: 'any' },
] as const

export function similarRequests({ rows = 1000, keys, unknown }: SimilarRequestsOptions = {}): Rule {
  const rules = [memo({ keys }), mostAlike(rows)]
  return chain(...rules, ...(unknown === undefined ? [] : [nothingSeen(unknown)]))
}

function mostAlike(most: number): Rule {
  const rows: Row[] = []
  let learned = 0
  const likenessOf = likenessReader()
  return {
    guess(question) {
      if (rows.length === 0) return undefined
      const asked = likenessOf(question)
      const total = { rows: 0, value: 0, side: 0, level: 0, squaredLevel: 0 }
      let best: number = groups.length
      for (const row of rows) {
        const rank = rankOf(asked, row)
        if (rank > best) continue
        if (rank < best) {
          best = rank
          Object.assign(total, { rows: 0, value: 0, side: 0, level: 0, squaredLevel: 0 })
        }
        total.rows++
        total.value += row.value
        total.side += row.side
        total.level += row.level
        total.squaredLevel += row.level ** 2
      }
      return average(asked.side, best, total)
    },
    learn(question, value) {
      if (!isUsable(value)) return
      const likeness = likenessOf(question)
      rows[learned++ % most] = { ...likeness, value, level: Math.log(value) - 2 * Math.log(likeness.side) }
    },
  }
}

/** The first group that a row belongs to. Only the rows of the first group that has any are used. */
function rankOf(asked: Likeness, row: Row): number {
  const other = row.strategy === asked.strategy ? 0 : 1
  if (isNear(asked, row)) return other
  if (Math.abs(row.side - asked.side) <= asked.side / 4) return 2 + other
  return 4 + other
}

function average(
  side: number,
  best: number,
  total: { rows: number; value: number; side: number; level: number; squaredLevel: number },
): Guess | undefined {
  const { rows } = total
  const averageSide = total.side / rows
  const value = (total.value / rows) * (side / averageSide) ** 2
  const reason = { code: 'similar-requests', ...groups[best]!, rows, side, averageSide }
  // The spread of the rows around the group's guess for each.
  const level = total.level / rows
  const off = Math.log(value) - 2 * Math.log(side) - level
  const variance = Math.max(0, total.squaredLevel / rows - level ** 2) + off ** 2
  const spread = rows > 1 ? Math.sqrt((variance * rows) / (rows - 1)) : undefined
  return guessOf(value, 'similar', reason, spread)
}

function nothingSeen(value: number): Rule {
  return { guess: () => guessOf(value, 'prior', { code: 'never-seen' }), learn() {} }
}
