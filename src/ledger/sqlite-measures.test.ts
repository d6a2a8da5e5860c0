/** How work was measured, in files of before and of now. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sampleRow } from './contract.ts'
import { scratch, tidy } from './test-scratch.ts'

test('rows of a file that was begun before work was measured in several ways are of the meter', async (t) => {
  const place = scratch(t)
  const before = await place.open()
  before.record(sampleRow(1))
  await before.close()
  const old = new DatabaseSync(place.file)
  old.exec('DROP TABLE measures; DROP TABLE amounts; PRAGMA user_version = 3')
  old.close()
  const ledger = await place.open()
  ledger.record(sampleRow(2, { measure: 'header' }))
  await ledger.close()
  const again = await place.open()
  assert.deepEqual(await again.recent({ workload: 'julia', limit: 9 }), [
    sampleRow(2, { measure: 'header' }),
    sampleRow(1),
  ])
})

test('with a row that is forgotten goes how it was measured', async (t) => {
  const place = scratch(t)
  const ledger = await place.open(tidy, { newest: 12, slack: 4, extremes: 0 })
  for (let number = 0; number < 40; number++) {
    ledger.record(sampleRow(number, { measure: number % 2 ? 'cpu' : 'time', quantities: '{"a":1}' }))
    await ledger.flush()
  }
  // What is due is done when nothing is left to look at.
  while ((await ledger.counts()).rows > 12);
  const rows = await ledger.recent({ workload: 'julia', limit: 99 })
  assert.deepEqual(rows[0], sampleRow(39, { measure: 'cpu', quantities: '{"a":1}' }))
  await ledger.close()
  const file = new DatabaseSync(place.file, { readOnly: true })
  const count = (table: string) => Number(file.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n)
  assert.equal(count('measures'), count('jobs'))
  assert.equal(count('amounts'), count('jobs'))
  file.close()
})
