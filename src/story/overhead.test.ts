import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Quote } from '../estimate/estimator.ts'
import { whyText } from './document.ts'
import { Scene } from './testing/runs.ts'

test('work is compared with the quote, without the overhead that the brain adds to it', () => {
  const quote: Quote = {
    ...{ work: 500, low: 480, high: 520, memoryMb: 1, source: 'memo', reason: { code: 'memo', repeats: 1 } },
    overhead: { low: 2, expected: 3, high: 4, work: 3000 },
  }
  const scene = new Scene({ stories: { known: () => ({ quote, expectedMs: 3.5 }) } })
  // The brain counts 3.5 ms, of which half a millisecond is measured as work.
  scene.job('nap', 0, 3.5, { reallyMs: 0.5 })
  scene.run(1000)
  const why = scene.why('nap')
  assert.equal(why.estimate.work, 500)
  assert.equal(why.measured?.timesExpected, 1)
  assert.match(whyText(why), /expected to need about 3\.5 ms \(500 units of work;/)
  assert.match(whyText(why), /it did 500 units of work, as expected/)
})

test('times in a story are those at the learned speed; the time by which jobs are compared is named as such', () => {
  const scene = new Scene({ stories: { known: () => ({ expectedMs: 125 }) } })
  // What counts as a second takes an eighth of it; the simulated worker itself is no faster.
  scene.job('fast', 0, 1000, { speed: { expected: 8, high: 8 }, reallyMs: 8000 })
  scene.job('queued', 1, 2000, { speed: { expected: 8, high: 8 } })
  scene.run(20_000)
  const text = whyText(scene.why('fast')).replaceAll(/\s+/g, ' ')
  assert.match(text, /expected to need about 125 ms/)
  assert.match(text, /which count as 1 s when jobs are compared/)
  assert.match(text, /the estimate was 125 ms in all/)
  assert.match(whyText(scene.why('queued')).replaceAll(/\s+/g, ' '), /its 250 ms/)
})
