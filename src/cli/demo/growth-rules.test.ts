import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetOf } from '../../systems/presets.ts'
import { type FleetState, growthRuleOf } from './growth-rules.ts'

interface Size {
  ready?: number
  booting?: number
  queued?: number
  scaling?: FleetState['scaling']
  workers?: [work: number, cpu: number | null][]
}

function demands(preset: string, { ready = 1, booting = 0, queued = 0, scaling = {}, workers = [] }: Size) {
  const list = (length: number) => Array.from({ length }, () => 'x')
  return growthRuleOf(presetOf(preset))!.demands({
    ...{ ready, booting: list(booting), waiting: list(queued), scaling },
    workers: workers.map(([outstanding, cpu]) => ({ state: 'ready', cpu, outstanding, figures: {} })),
  })
}

test('cloudprime: a request that fits nowhere', () => {
  assert.equal(demands('cloudprime', { queued: 1 }), true)
  assert.equal(demands('cloudprime', { queued: 0 }), false)
})

test('tiered: a whole server more than 1.5 queued requests for each, the coordinator and booting ones included', () => {
  assert.equal(demands('tiered', { ready: 2, booting: 1, queued: 7 }), true)
  assert.equal(demands('tiered', { ready: 2, booting: 1, queued: 6 }), false)
})

test('cnv: CPU above the bound for two looks, and a queue; one alone is not enough', () => {
  assert.equal(demands('cnv', { queued: 1, scaling: { looksAbove: 2 } }), true)
  assert.equal(demands('cnv', { queued: 0, scaling: { looksAbove: 9 } }), false)
  assert.equal(demands('cnv', { queued: 50, scaling: { looksAbove: 1 } }), false)
})

test('hillclimbing: mean work above 70 % of the limit and no fresh worker, or a request that fits nowhere', () => {
  const above: [number, number] = [350_000_001, 0.5]
  assert.equal(demands('hillclimbing', { workers: [above, above] }), true)
  assert.equal(demands('hillclimbing', { workers: [above, [349_999_999, 0.5]] }), false)
  assert.equal(demands('hillclimbing', { workers: [above, [1e9, 0]] }), false)
  assert.equal(demands('hillclimbing', { workers: [above, [1e9, null]] }), false)
  assert.equal(demands('hillclimbing', { queued: 1 }), true)
})

test('ecowork: mean CPU above 85 % and no batch under way, whatever is queued', () => {
  assert.equal(demands('ecowork', { scaling: { averageCpu: 0.86, batch: 0 } }), true)
  assert.equal(demands('ecowork', { queued: 50, scaling: { averageCpu: 0.85, batch: 0 } }), false)
  assert.equal(demands('ecowork', { scaling: { averageCpu: 0.9, batch: 1 } }), false)
  assert.equal(demands('ecowork', { queued: 5, scaling: { averageCpu: null, batch: 0 } }), false)
})

test('a rule has the time of its own decisions, divided by the time scale', () => {
  const within = (preset: string, timeScale = 1) => growthRuleOf(presetOf(preset, { timeScale }))!.withinMs
  const all = ['cloudprime', 'tiered', 'cnv', 'hillclimbing', 'ecowork'].map((preset) => within(preset))
  assert.deepEqual(all, [180_000, 1500, 60_000, 60_000, 60_000])
  assert.equal(within('cnv', 15), 4000)
  assert.equal(growthRuleOf(presetOf('plimsoll')), undefined)
})
