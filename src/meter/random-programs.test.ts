/** Random programs have the same output metered and unmetered, and modes `work` and `regions` count the same work. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { share } from '../../test/support/thorough.ts'
import { defaultFormula, workOf } from '../model/metrics.ts'
import { lightWork } from './static-costs.ts'
import { bothWays, metered } from './testing/both-ways.ts'
import { randomPrograms as programs } from './testing/random-programs.ts'

fc.configureGlobal({ seed: 1 })

test('random programs have the same output metered and unmetered, in every mode', async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      await bothWays(program)
    }),
    { numRuns: share(50), endOnFailure: true },
  )
})

test('the work of random programs equals that of their regions, except for light regions', async () => {
  await fc.assert(
    fc.asyncProperty(programs, async (program) => {
      const { work, eager, regions } = await bothWays(program)
      assert.equal((await metered(program, 'work')).work, work.work)
      assert.equal((await metered(program, 'regions')).work, regions.work)
      // A region that an exception interrupts is counted as a whole or not at all.
      if (/finally/.test(program) || work.trace.some((step) => /caught|threw/.test(step))) return
      assert.equal(eager.work, work.work)
      // A region may be off by `lightWork` in each run, and by one additional run for the last test of a loop.
      let allowed = 0
      for (const { times, tally } of regions.regions) {
        if (times > 0) allowed += times * lightWork + workOf(tally, defaultFormula)
      }
      assert.ok(Math.abs(work.work - regions.work) <= allowed, `${work.work}, not ${regions.work}`)
    }),
    { numRuns: share(40), endOnFailure: true },
  )
})
