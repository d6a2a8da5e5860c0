import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meterOptions } from '../../config/cluster-options.ts'
import { defaultMeter } from '../../meter/hooks.ts'
import { meterFlags } from '../../model/metering.ts'
import { ofServed } from '../../systems/preset.ts'
import { readOptions } from '../options.ts'
import { meterExtrasOption, meterFrom } from './meter.ts'

const read = (...args: string[]) =>
  meterFrom(readOptions(args, { ...meterOptions, ...meterExtrasOption }).values)

test('meters by default', () => {
  assert.deepEqual(read(), defaultMeter)
  assert.equal(read('--meter', 'off'), 'off')
  assert.deepEqual(read('--meter', 'regions', '--formula', 'blocks=0.15, calls=2'), {
    mode: 'regions',
    formula: { blocks: 0.15, calls: 2 },
  })
})

test('the code that counts is listed by workload, in place of what the preset lists', () => {
  const preset = { ...defaultMeter, only: { hillclimb: ['hillclimb/bfs'] } }
  const of = (...args: string[]) => meterFrom(readOptions(args, meterOptions).values, preset)
  assert.deepEqual(of(), preset)
  assert.deepEqual(of('--meter-only', 'julia=julia#shadeOf+julia/glance, dna=dna/search'), {
    ...defaultMeter,
    only: { julia: ['julia#shadeOf', 'julia/glance'], dna: ['dna/search'] },
  })
  assert.deepEqual(of('--meter-only', 'all'), defaultMeter)
  assert.deepEqual(ofServed(preset, ['/a/workloads/hillclimb.ts']), preset)
  assert.deepEqual(ofServed(preset, ['/a/other.ts']), { ...defaultMeter, only: {} })
  assert.deepEqual(read(...meterFlags(preset), ...['--meter-only', 'dna=dna/page']), {
    ...defaultMeter,
    only: { dna: ['dna/page'] },
  })
})

test('the flags of a setting reproduce it', () => {
  for (const meter of [defaultMeter, 'off', { mode: 'routines', formula: { blocks: 1e-7 } }] as const) {
    assert.deepEqual(read(...meterFlags(meter)), meter)
  }
})

test('rejects invalid settings by name', () => {
  const wrong: [string[], RegExp][] = [
    [['--meter', 'fuel'], /^--meter = fuel: must be one of work, regions, routines, off$/],
    [['--formula', 'blocks'], /^--formula = blocks: blocks: must be METRIC=COEFFICIENT$/],
    [['--formula', 'blocks=1=2'], /must be METRIC=COEFFICIENT$/],
    [['--meter-only', 'julia'], /^--meter-only = julia: julia: must be WORKLOAD=MODULE\+MODULE/],
    [['--meter-only', 'julia=a+'], /must be WORKLOAD=MODULE/],
    [['--meter', 'off', '--meter-only', 'julia=a'], /needs a meter, which is off$/],
    [['--formula', 'blots=1'], /unknown metric blots; metrics are instructions, /],
    [['--formula', 'blocks=many'], /blocks = NaN: must be a number from 0 to 1000/],
    [['--formula', 'blocks=0'], /must count something/],
  ]
  for (const [args, message] of wrong) assert.throws(() => read(...args), { code: 'CONFIG', message })
})
