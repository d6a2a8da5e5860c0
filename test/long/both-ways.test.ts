/** A few third-party packages do the same metered and not; `npm run check:meter` runs many more. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compare } from '../checks/meter/compare.ts'

for (const name of ['json5', 'handlebars', 'jpeg-js']) {
  test(`${name} does the same metered and not`, async () => {
    const { differences, lines } = await compare(name, ['work'])
    assert.deepEqual(differences, [])
    assert.ok(lines > 1000)
  })
}
