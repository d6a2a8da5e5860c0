/**
 * Mutation tests of the hardening: each old behaviour is planted in a copy of the sources, and the test that was written
 * against it must fail.
 */

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { allBugs } from '../support/planted/all.ts'
import { Copy, whyNotPlanted } from '../support/planted/plant.ts'

/** Copies, and so planted bugs at a time. */
const lanes = 2
/** A test that hangs has failed. */
const timeoutMs = 15_000

test('the sources contain the text that each planted bug changes', () => {
  const missing = Object.values(allBugs).flatMap((list) =>
    list.flatMap(({ edits }) => edits.map(whyNotPlanted)),
  )
  assert.deepEqual(missing.filter(Boolean), [])
})

describe('planted bugs', { concurrency: lanes }, () => {
  const free: Copy[] = Array.from({ length: lanes }, () => new Copy())
  const copies = [...free]
  after(() => {
    for (const copy of copies) copy.remove()
  })
  for (const [topic, list] of Object.entries(allBugs)) {
    for (const bug of list) {
      const { what, file, test: name } = bug
      test(`${topic}: a test detects ${what}`, async (t) => {
        const copy = free.pop()!
        try {
          const { failed, output } = await copy.run(bug, timeoutMs)
          if (failed.length === 0 && /^SKIPPED: /m.test(output)) return t.skip('the test was skipped')
          assert.ok(failed.includes(name), `${file}: "${name}" did not fail\n${output.slice(-4_000)}`)
        } finally {
          free.push(copy)
        }
      })
    }
  }
})
