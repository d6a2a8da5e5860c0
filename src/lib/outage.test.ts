import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Outage } from './outage.ts'

test('an outage is reported once for each reason, and its end once with the number of losses', () => {
  const lines: string[] = []
  const outage = new Outage(
    { failed: (why) => `fails: ${why}`, works: (lost) => `works; lost ${lost}` },
    (line) => lines.push(line),
  )
  outage.works()
  for (let i = 0; i < 5; i++) outage.failed('full', 2)
  assert.equal(outage.why, 'full')
  outage.failed('broken')
  outage.works()
  outage.works()
  assert.equal(outage.why, undefined)
  outage.failed('full', 1)
  outage.works()
  assert.deepEqual(lines, ['fails: full', 'fails: broken', 'works; lost 10', 'fails: full', 'works; lost 1'])
})
