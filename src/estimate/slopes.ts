/** EcoWork's estimate: for each kind of request a slope between the smallest and the largest x seen, times x. */

import type { Question, Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'
import { numberIn, read, sizeOf } from './reading.ts'
import { Recent } from './recent.ts'

/** The two ends of what was seen of a key. */
interface Ends {
  minX: number
  minValue: number
  maxX: number
  maxValue: number
}

interface Point {
  key: string
  x: number
}

export function slopes({ keys = 1000 }: { keys?: number } = {}): Rule {
  const known = new Recent<Ends>(keys)
  return {
    guess(question) {
      const { key, x } = pointOf(question)
      const own = known.get(key)
      const slope = own && slopeOf(own)
      if (slope !== undefined && isUsable(slope)) {
        return guessOf(slope * x, 'model', { code: 'slope', key, slope, x })
      }
      const { mean, count } = meanSlope(known.values())
      return guessOf(mean * x, 'model', { code: 'mean-slope', keys: count, slope: mean, x })
    },
    learn(question, value) {
      if (!isUsable(value)) return
      const { key, x } = pointOf(question)
      if (!(x >= 0 && Number.isFinite(x))) return
      const ends = known.get(key)
      if (!ends) known.set(key, { minX: x, minValue: value, maxX: x, maxValue: value })
      else if (x < ends.minX) Object.assign(ends, { minX: x, minValue: value })
      else if (x > ends.maxX) Object.assign(ends, { maxX: x, maxValue: value })
    },
  }
}

/** Where the larger x took no more, as with one point: a line from zero. */
function slopeOf({ minX, minValue, maxX, maxValue }: Ends): number {
  const slope = (maxValue - minValue) / (maxX - minX)
  return isUsable(slope) ? slope : maxValue / maxX
}

function meanSlope(known: Iterable<Ends>): { mean: number; count: number } {
  let mean = 0
  let count = 0
  for (const ends of known) {
    const slope = slopeOf(ends)
    if (isUsable(slope)) mean += (slope - mean) / ++count
  }
  return { mean, count }
}

/** Other workloads than those of the document: a key for each combination of categories, and their size for x. */
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
