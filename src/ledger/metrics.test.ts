/** The rule for who may write metrics, and its contract over every ledger. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { memoryLedger } from './memory.ts'
import { mayWrite } from './metrics.ts'
import { metricsContract, sampleMetrics } from './metrics-contract.ts'
import { scratch } from './test-scratch.ts'

metricsContract('memory', async () => memoryLedger())
metricsContract('sqlite', (t) => scratch(t).open())

test('who may write metrics', () => {
  const a = { worker: 'a', attempt: '1' }
  const b = { worker: 'b', attempt: '1' }
  const nobody = { worker: '', attempt: '' }
  const running = true
  const complete = { ...a, running: false }
  assert.equal(mayWrite(undefined, { ...a, running }), true)
  assert.equal(mayWrite(undefined, complete), true)
  assert.equal(mayWrite(complete, { ...a, running }), false)
  assert.equal(mayWrite(complete, complete), false)
  assert.equal(mayWrite({ ...a, running }, { ...a, running }), true)
  assert.equal(mayWrite({ ...a, running }, { ...b, running }), false)
  assert.equal(mayWrite({ ...a, running }, { ...a, attempt: '2', running }), false)
  assert.equal(mayWrite({ ...b, running }, complete), true)
  assert.equal(mayWrite({ ...nobody, running }, { ...b, running }), true)
})

test('sqlite: metrics survive, also in a file that was begun before there were any', async (t) => {
  const place = scratch(t)
  await (await place.open()).close()
  const old = new DatabaseSync(place.file)
  old.exec(
    'DROP TABLE metrics; DROP TABLE traits; DROP TABLE snapshots; DROP TABLE measures; DROP TABLE amounts; PRAGMA user_version = 1',
  )
  old.close()
  const first = await place.open()
  first.recordMetrics(sampleMetrics())
  await first.close()
  const second = await place.open()
  assert.deepEqual(await second.metricsFor(sampleMetrics()), sampleMetrics())
  await second.close()
})
