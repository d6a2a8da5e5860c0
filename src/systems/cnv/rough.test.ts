import assert from 'node:assert/strict'
import { test } from 'node:test'
import dna from '../../../workloads/dna.ts'
import grayscott from '../../../workloads/grayscott.ts'
import julia from '../../../workloads/julia.ts'
import { readParams } from '../../../workloads/testing/params.ts'
import type { Guess } from '../../estimate/estimator.ts'
import { question } from '../../estimate/testing/question.ts'
import { cnvConstants } from './cell.ts'
import { workPerCost } from './preset.ts'
import { storeTrained } from './store-trained.ts'

const workloads = { dna, grayscott, julia }
const nothing = { bytes: 0, start: new Uint8Array() }

/** The guess for a request of which nothing is stored. */
function guessed(workload: keyof typeof workloads, given: object): Guess {
  const { features } = workloads[workload] as typeof julia
  const params = readParams(workloads[workload] as typeof julia, given)
  const asked = question(features!(params, nothing as never) as never, { workload, params })
  return storeTrained(['instCount', 'totalAccesses'], async () => {}).guess(asked)!
}

const roughly = (workload: keyof typeof workloads, given: object) => guessed(workload, given).value

test('CN-4 the cost of Gray-Scott is known in advance, from its size and iterations', () => {
  const cost = roughly('grayscott', { size: 1024, iterations: 1900 }) / workPerCost
  const perCell = cnvConstants.cellInstructions + cnvConstants.cellAccesses
  assert.equal(cost, (1024 ** 2 * 1900 * perCell) / workPerCost)
  assert.ok(Math.abs(cost - 167_353) < 1)
  // A pattern that becomes stable ends early.
  assert.ok(roughly('grayscott', { preset: 'bubbles' }) < roughly('grayscott', {}) / 2)
})

test('CN-4 the heuristic for fractals and genomes is near what the meter counts, for each quantity', () => {
  const measured = [
    ['julia', {}, 166_826_406, 2_701_259],
    ['julia', { width: 640, height: 480, iterations: 2000, cx: -0.4, cy: 0.6 }, 557_599_160, 10_398_655],
    ['dna', {}, 93_004_046, 3_300_491],
    ['dna', { length: 1_000_000, pattern: 'GATTACAGATTACA', mismatches: 4 }, 1_079_052_235, 40_194_458],
    ['dna', { mode: 'align', length: 200_000 }, 3_307_157_630, 160_837_004],
  ] as const
  for (const [workload, params, instCount, totalAccesses] of measured) {
    const { value, reason } = guessed(workload, params)
    for (const [name, factor] of [
      ['work', value / (instCount + totalAccesses)],
      ['instCount', Number(reason.instCount) / instCount],
      ['totalAccesses', Number(reason.totalAccesses) / totalAccesses],
    ] as const)
      assert.ok(factor > 0.8 && factor < 1.27, `${workload} ${JSON.stringify(params)}: ${name} ${factor}`)
  }
})

test('CN-4 a workload without a formula has no heuristic', () => {
  assert.equal(storeTrained(['instCount'], async () => {}).guess(question({ steps: 5 })), undefined)
  const odd = question({ steps: Number.NaN }, { workload: 'julia' })
  assert.equal(storeTrained(['instCount'], async () => {}).guess(odd), undefined)
})
