/** The slopes' keys and sizes from the features of the workloads. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import compress from '../../../workloads/compress.ts'
import foxesRabbits from '../../../workloads/foxes-rabbits.ts'
import { encodeBmp } from '../../../workloads/images/bmp-encode.ts'
import insectWar from '../../../workloads/insect-war.ts'
import { photo } from '../../../workloads/testing/pictures.ts'
import type { Question } from '../../estimate/estimator.ts'
import { ask } from '../testing/ask.ts'
import { slopes } from './slopes.ts'

/** The key and x of a request. */
function pointOf(question: Question) {
  const rule = slopes()
  rule.learn(question, 1)
  const { key, x } = rule.guess(question)!.reason
  return [key, x]
}

test('EW-4 keys and x come from the features of the three workloads', () => {
  assert.deepEqual(pointOf(ask(foxesRabbits, { world: 3, scenario: 2, generations: 50 })), ['3:2', 50])
  assert.deepEqual(pointOf(ask(insectWar, { rounds: 10, army1: 30, army2: 100 })), ['<=4', 1300])
  const picture = encodeBmp(photo(20, 10), () => {})
  assert.deepEqual(pointOf(ask(compress, { format: 'jpeg', quality: 0.72 }, picture)), ['jpeg:0.7', 200])
  assert.deepEqual(pointOf(ask(compress, { format: 'bmp' }, picture)), ['bmp', 200])
})
