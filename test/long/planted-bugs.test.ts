/**
 * Mutation tests of the hardening: each old behaviour is planted in a copy of the sources, and the test that was written
 * against it must fail.
 */

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { allBugs } from '../support/planted/all.ts'
import { Copy, seedRuns, whyNotPlanted } from '../support/planted/plant.ts'

/** Copies, and so planted bugs at a time. */
const lanes = 2
/** A test that hangs has failed, except one that runs seeds in virtual time: it may only be slow. */
const [timeoutMs, seedsMs] = [15_000, 240_000]
const unchangedMs = 240_000
const isSeeds = (file: string) => file in seedRuns
const limitOf = (file: string) => (isSeeds(file) ? seedsMs : timeoutMs)

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
  const bugs = Object.values(allBugs).flat()
  for (const [file, list] of Map.groupBy(bugs, ({ file }) => file)) {
    test(`without a planted bug: ${file}`, async () => {
      const names = [...new Set(list.map(({ test }) => test))]
      const copy = free.pop()!
      try {
        const { code, output } = await copy.runUnchanged(file, names, unchangedMs)
        const [, passed] = /^# pass (\d+)$/m.exec(output) ?? []
        assert.deepEqual([code, Number(passed)], [0, names.length], output.slice(-4_000))
      } finally {
        free.push(copy)
      }
    })
  }
  for (const [topic, list] of Object.entries(allBugs)) {
    for (const bug of list) {
      const { what, file, test: name } = bug
      test(`${topic}: a test detects ${what}`, async (t) => {
        const copy = free.pop()!
        try {
          const { failed, late, output } = await copy.run(bug, limitOf(file))
          if (failed.length === 0 && /^SKIPPED: /m.test(output)) return t.skip('the test was skipped')
          const detected = isSeeds(file) ? failed : [...failed, ...late]
          assert.ok(detected.includes(name), `${file}: "${name}" did not fail\n${output.slice(-4_000)}`)
        } finally {
          free.push(copy)
        }
      })
    }
  }
})
