/** The rules of EcoWork and HillClimbing find what they look for in the features of the workloads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Question } from '../src/estimate/estimator.ts'
import type { Features } from '../src/model/estimate.ts'
import { rankMemo } from '../src/systems/cloudprime/rank-memo.ts'
import { slopes } from '../src/systems/ecowork/slopes.ts'
import { similarRequests } from '../src/systems/hillclimbing/similar-requests.ts'
import type { Workload } from '../src/workload/workload.ts'
import compress from '../workloads/compress.ts'
import factorize from '../workloads/factorize.ts'
import foxesRabbits from '../workloads/foxes-rabbits.ts'
import hillclimb from '../workloads/hillclimb.ts'
import { encodeBmp } from '../workloads/images/bmp-encode.ts'
import insectWar from '../workloads/insect-war.ts'
import { readParams } from '../workloads/testing/params.ts'
import { photo } from '../workloads/testing/pictures.ts'

function ask<P>(
  workload: Workload<P>,
  input: Record<string, unknown>,
  head: Uint8Array = new Uint8Array(),
): Question {
  const params = readParams(workload, input)
  const features = workload.features?.(params, { bytes: head.length, head }) ?? (params as Features)
  return { workload: workload.name, codeHash: 'code', key: JSON.stringify(input), params, features }
}

/** The key and x by which a request is known. */
function pointOf(question: Question) {
  const rule = slopes()
  rule.learn(question, 1)
  const { key, x } = rule.guess(question)!.reason
  return [key, x]
}

test('EW-4: keys and x come from the features of the three workloads', () => {
  assert.deepEqual(pointOf(ask(foxesRabbits, { world: 3, scenario: 2, generations: 50 })), ['3:2', 50])
  assert.deepEqual(pointOf(ask(insectWar, { rounds: 10, army1: 30, army2: 100 })), ['<=4', 1300])
  const picture = encodeBmp(photo(20, 10), () => {})
  assert.deepEqual(pointOf(ask(compress, { format: 'jpeg', quality: 0.72 }, picture)), ['jpeg:0.7', 200])
  assert.deepEqual(pointOf(ask(compress, { format: 'bmp' }, picture)), ['bmp', 200])
})

test('HC-4: a search is near another by its place on the map, its side that of the area', () => {
  const rule = similarRequests()
  const area = { map: 5, width: 400, height: 300, x0: 100, x1: 299, y0: 50, y1: 249, strategy: 'BFS' }
  rule.learn(ask(hillclimb, area), 1000)
  const groupOf = (change: object) => rule.guess(ask(hillclimb, { ...area, ...change }))!.reason.group
  assert.equal(groupOf({ xS: 249 }), 'same-map')
  assert.equal(groupOf({ xS: 250 }), 'similar-size')
  assert.equal(groupOf({ map: 6 }), 'similar-size')
  assert.equal(groupOf({ x0: 280 }), 'same-strategy')
  assert.equal(rule.guess(ask(hillclimb, { ...area, xS: 200 }))!.reason.side, 200)
})

test('CP-6: a number to factorize is its own rank, although it is kept as text', () => {
  assert.equal(rankMemo().guess(ask(factorize, { n: 983_732 }))?.value, 983_732)
})
