/** A few third-party packages have the same output metered and unmetered; `npm run check:meter` runs many more. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compare } from '../checks/meter/compare.ts'

for (const name of ['json5', 'handlebars', 'jpeg-js']) {
  test(`${name} has the same output metered and unmetered`, async () => {
    const { differences, lines } = await compare(name, ['work'])
    assert.deepEqual(differences, [])
    assert.ok(lines > 1000)
  })
}
