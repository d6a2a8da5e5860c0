/** Side tables for the measure and the quantities of a job. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sampleRow } from '../testing/samples.ts'
import { eagerPruning, scratch } from '../testing/scratch.ts'

test('rows of an older schema without measures count as measured by the meter', async (t) => {
  const temporary = scratch(t)
  const before = await temporary.open()
  before.record(sampleRow(1))
  await before.close()
  const old = new DatabaseSync(temporary.file)
  old.exec('DROP TABLE measures; DROP TABLE amounts; PRAGMA user_version = 3')
  old.close()
  const ledger = await temporary.open()
  ledger.record(sampleRow(2, { measure: 'header' }))
  await ledger.close()
  const again = await temporary.open()
  assert.deepEqual(await again.recent({ workload: 'julia', limit: 9 }), [
    sampleRow(2, { measure: 'header' }),
    sampleRow(1),
  ])
})

test('pruning a row also deletes its measure and quantities', async (t) => {
  const temporary = scratch(t)
  const ledger = await temporary.open(eagerPruning, { newest: 12, slack: 4, extremes: 0 })
  for (let number = 0; number < 40; number++) {
    ledger.record(sampleRow(number, { measure: number % 2 ? 'cpu' : 'time', quantities: '{"a":1}' }))
    await ledger.flush()
  }
  while ((await ledger.counts()).rows > 12);
  const rows = await ledger.recent({ workload: 'julia', limit: 99 })
  assert.deepEqual(rows[0], sampleRow(39, { measure: 'cpu', quantities: '{"a":1}' }))
  await ledger.close()
  const file = new DatabaseSync(temporary.file, { readOnly: true })
  const count = (table: string) => Number(file.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n)
  assert.equal(count('measures'), count('jobs'))
  assert.equal(count('amounts'), count('jobs'))
  file.close()
})
