import assert from 'node:assert/strict'
import test from 'node:test'
import { defaultMeter } from '../meter/hooks.ts'
import { Milestones } from '../worker/milestones.ts'
import { checkMeter, type Following, followingOf, type MeterSetting } from './metering.ts'

const regions: MeterSetting = { mode: 'regions', formula: { instructions: 1 } }

test('rejects what the meter cannot report, by name', () => {
  const refused: [Following, MeterSetting, RegExp][] = [
    [{ progressEvery: 5 }, 'off', /^progressEvery = 5: needs a meter, which is off$/],
    [{ metricsEvery: 5 }, 'off', /^metricsEvery = 5: needs a meter, which is off$/],
    [{ progressEvery: 0 }, defaultMeter, /^progressEvery = 0: must be an amount of work, above 0$/],
    [{ progressEvery: Number.NaN }, defaultMeter, /^progressEvery = /],
    [{ metricsEvery: -1 }, defaultMeter, /^metricsEvery = -1: must be/],
    [{ metricsEvery: { blocks: 5 } }, defaultMeter, /needs the meter's mode regions, not work$/],
    [{ metricsEvery: { blots: 5 } as never }, regions, /must give amounts above 0 of instructions, blocks/],
    [{ metricsEvery: {} }, regions, /must give amounts/],
    [{ metricsEvery: { blocks: 0 } }, regions, /must give amounts/],
  ]
  for (const [following, meter, message] of refused) {
    assert.throws(() => followingOf(following, meter), { code: 'CONFIG', message })
  }
  assert.throws(() => checkMeter({ mode: 'work', formula: { blots: 1 } as never }), /unknown metric blots/)
})

test('accepts what the meter can report', () => {
  assert.deepEqual(followingOf({}, 'off'), {})
  const asked = { progressEvery: 12e6, metricsEvery: { blocks: 100_400_724 } }
  assert.deepEqual(followingOf(asked, regions), asked)
  assert.deepEqual(followingOf({ metricsEvery: 1 }, defaultMeter), { metricsEvery: 1 })
})

test('passes a milestone each time work has grown by the given amount', () => {
  const milestones = new Milestones(10)
  const passed = [0, 9, 10, 12, 19, 20, 55, 64, 65].filter((work) => milestones.passed({ work }))
  assert.deepEqual(passed, [10, 20, 55, 65])
})

test('any of several metrics may pass its milestone', () => {
  const milestones = new Milestones({ blocks: 10, stores: 3 })
  const tallies = [
    { blocks: 9 },
    { blocks: 9, stores: 3 },
    { blocks: 18, stores: 5 },
    { blocks: 19, stores: 5 },
  ]
  assert.deepEqual(
    tallies.map((tally) => milestones.passed({ work: 0, tally })),
    [false, true, false, true],
  )
})
