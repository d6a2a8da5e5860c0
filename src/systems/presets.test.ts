import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { disciplines } from '../model/discipline.ts'
import { bursty } from '../simulate/arrivals.ts'
import { Invariants } from '../simulate/invariants.ts'
import { presetRun } from '../simulate/preset-run.ts'
import { simulate } from '../simulate/simulate.ts'
import { lognormal } from '../simulate/sizes.ts'
import { presetOf, presets } from './presets.ts'

const jobs = 400

/** What every preset must do. */
for (const name of Object.keys(presets))
  describe(name, () => {
    const run = presetRun(name, {
      ...{ seed: 7, jobs, arrivals: bursty(0.5, 4, 600_000, 120_000), sizes: lognormal(1, 1.2) },
      errorSigma: 0.5,
    })

    test('answers each job once, with all invariants intact', () => {
      const { bounded } = disciplines[run.brain.discipline]
      const checks = new Invariants({
        ...{ bounded, max: run.brain.scale.max ?? Infinity, limits: run.brain.limits },
        functions: run.brain.overflow?.concurrency ?? Infinity,
      })
      const summary = simulate(run, { observer: checks }).summary()
      assert.equal(summary.jobs + summary.refused + summary.dropped, jobs)
      assert.ok(summary.jobs > jobs / 2)
    })

    test('describes itself in one line that fits a terminal', () => {
      const { description } = presetOf(name)
      assert.ok(description.length <= 110 && description.endsWith('.'), description)
    })
  })

test('only the default preset ejects outliers', () => {
  const ejecting = Object.keys(presets).filter((name) => presetOf(name).limits?.outliers)
  assert.deepEqual(ejecting, ['plimsoll'])
})
