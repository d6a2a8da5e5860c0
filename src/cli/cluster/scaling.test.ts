import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scalingOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { explain } from '../../story/reasons.ts'
import { readOptions } from '../options.ts'
import { scaleFrom } from './scaling.ts'

const read = (...args: string[]): OptionValues<typeof scalingOptions> =>
  readOptions(args, scalingOptions).values
const refused = (args: string[], message: RegExp) =>
  assert.throws(
    () => scaleFrom(read(...args), { min: 1, max: 4 }),
    (error) => error instanceof ConfigError && message.test(error.message),
  )

test('scales by work-forecast if the size may change, else stays fixed', () => {
  assert.deepEqual(scaleFrom(read(), { min: 1, max: 4 }), { min: 1, max: 4, policy: 'work-forecast' })
  assert.deepEqual(scaleFrom(read(), { min: 2, max: 2 }), { min: 2, max: 2 })
  assert.deepEqual(scaleFrom(read('--scale', 'fixed'), { min: 1, max: 4 }), { min: 1, max: 4 })
})

test('puts all options into the specification', () => {
  assert.deepEqual(scaleFrom(read('--scale', 'hpa', '--target', '0.8'), { min: 0, max: 9 }), {
    ...{ min: 0, max: 9, policy: 'hpa', target: 0.8 },
  })
  const paid = ['--promise', 'budget: 2 an hour', '--paid-minimum', '60', '--paid-period', '3600']
  assert.deepEqual(scaleFrom(read(...paid), { min: 0, max: 9 }, 0.5), {
    ...{ min: 0, max: 9, policy: 'work-forecast', promise: 'budget: 2 an hour', pricePerHour: 0.5 },
    billing: { minimumMs: 60_000, periodMs: 3_600_000 },
  })
})

test('rejects options that require another policy', () => {
  refused(['--scale', 'magic'], /^--scale = magic: must be one of fixed, work-forecast, hpa, kpa\b/)
  refused(['--scale', 'planned'], /^--scale = planned: must be one of/)
  refused(['--target', '0.8'], /^--target = 0\.8: requires --scale hpa or kpa; this is work-forecast$/)
  refused(
    ['--scale', 'kpa', '--promise', 'x'],
    /^--promise = x: requires --scale work-forecast; this is kpa$/,
  )
  refused(['--promise', 'soon'], /^scale\.promise = soon: must be parts like/)
  refused(['--promise', 'budget: 2 an hour'], /^scale\.pricePerHour = 0: must be above 0/)
})

test('explains scaling steps', () => {
  const facts = { cores: 12.4, extra: 0.2, waitingMs: 186_000, have: 6, to: 7 }
  assert.equal(
    explain({ code: 'forecast', ...facts }),
    'arrivals will keep 12.4 cores busy, and a backlog of 3.1 min needs 0.2 more: 6 → 7 workers',
  )
  assert.equal(
    explain({ code: 'forecast', cores: 1, extra: 0, waitingMs: 0, have: 2, to: 1, drainMs: 0 }),
    'arrivals will keep 1 core busy: 2 → 1 worker; it is empty',
  )
  assert.match(explain({ code: 'forecast-crowd', ...facts }), /^arrivals surge; arrivals will/)
  assert.match(
    explain({ code: 'forecast-strained', ...facts, percent: 90 }),
    /90 % of the waiting that the promise allows is used/,
  )
  assert.match(
    explain({ code: 'utilisation', percent: 91, target: 70, have: 2, to: 3 }),
    /91 %.*2 → 3 workers$/,
  )
})
