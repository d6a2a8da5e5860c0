/** The rule that decides which attempt may write metrics, and the contract of both ledgers. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { mayWrite } from './metrics.ts'
import { memoryLedger } from './testing/memory-ledger.ts'
import { metricsContract } from './testing/metrics-contract.ts'
import { sampleMetrics } from './testing/samples.ts'
import { scratch } from './testing/scratch.ts'

metricsContract('memory', async () => memoryLedger())
metricsContract('sqlite', (t) => scratch(t).open())

test('only the owner of a running row may write it, and a complete row never changes', () => {
  const a = { worker: 'a', attempt: '1' }
  const b = { worker: 'b', attempt: '1' }
  const noOwner = { worker: '', attempt: '' }
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
  assert.equal(mayWrite({ ...noOwner, running }, { ...b, running }), true)
})

test('sqlite: metrics are kept when a file without a metrics table is opened again', async (t) => {
  const temporary = scratch(t)
  await (await temporary.open()).close()
  const old = new DatabaseSync(temporary.file)
  old.exec(
    'DROP TABLE metrics; DROP TABLE traits; DROP TABLE snapshots; DROP TABLE measures; DROP TABLE amounts; PRAGMA user_version = 1',
  )
  old.close()
  const first = await temporary.open()
  first.recordMetrics(sampleMetrics())
  await first.close()
  const second = await temporary.open()
  assert.deepEqual(await second.metricsFor(sampleMetrics()), sampleMetrics())
  await second.close()
})
