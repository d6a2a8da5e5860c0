/** Programs written at random do the same metered and not, and what they take is counted alike in both modes. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { share } from '../../test/support/thorough.ts'
import { defaultFormula, workOf } from '../model/metrics.ts'
import { lightWork } from './measure.ts'
import { bothWays, metered } from './testing/both-ways.ts'
import { randomPrograms as programs } from './testing/programs.ts'

fc.configureGlobal({ seed: 1 })

test('random programs run alike both ways, in every mode', async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      await bothWays(program)
    }),
    { numRuns: share(50), endOnFailure: true },
  )
})

test('the work of random programs is that of their regions, but for what is light', async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      const { work, hasty, regions } = await bothWays(program)
      assert.equal((await metered(program, 'work')).work, work.work)
      assert.equal((await metered(program, 'regions')).work, regions.work)
      // What an exception cuts short is counted as a whole, or not at all.
      if (/finally/.test(program) || work.trace.some((step) => /caught|threw/.test(step))) return
      assert.equal(hasty.work, work.work)
      // A region may be off by what is light each time, and by one run more: the last of a loop's test.
      let allowed = 0
      for (const { times, tally } of regions.regions) {
        if (times > 0) allowed += times * lightWork + workOf(tally, defaultFormula)
      }
      assert.ok(Math.abs(work.work - regions.work) <= allowed, `${work.work}, not ${regions.work}`)
    }),
    { numRuns: share(40), endOnFailure: true },
  )
})
