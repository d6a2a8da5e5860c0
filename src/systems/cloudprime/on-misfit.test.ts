import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScaleDecision, Scaler, WorkerFigures } from '../../brain/scale/scaler.ts'
import { fleetOf } from '../../brain/testing/scaling.ts'
import { ConfigError } from '../../lib/errors.ts'
import { onMisfit } from './on-misfit.ts'

const spec = { min: 2, max: 10 }
const minute = 60_000

/** Workers named by letters, with these CPU shares. */
function fleet(cpus: (number | null)[], booting = 0) {
  const workers = cpus.map((cpu, i): WorkerFigures => {
    const id = String.fromCharCode(97 + i)
    return { id, number: i, draining: false, suspect: false, cpu, jobs: 1, work: 1, since: 0 }
  })
  return fleetOf({ ready: cpus.length, booting, workers: () => workers })
}

const ended = (decision: ScaleDecision) =>
  decision.kind === 'steps' ? (decision.end ?? []).map(({ worker }) => worker).join('') : ''
const launched = (decision: ScaleDecision) => (decision.kind === 'steps' ? (decision.launch?.count ?? 0) : 0)

/** The workers ended at each minute, until one is. */
function minutes(scaler: Scaler, count: number, cpus: (number | null)[], from = 0): string[] {
  return Array.from({ length: count }, (_, i) => ended(scaler.decide(fleet(cpus), (from + i) * minute)))
}

/** The launches after this many deaths, with these CPU shares of the others. */
function afterDeaths(dead: number, cpus: (number | null)[], booting = 0): number {
  const scaler = onMisfit(spec)
  scaler.decide(fleet([...cpus, ...Array.from({ length: dead }, () => 0.5)], booting), 0)
  for (let i = 0; i < dead; i++) scaler.lost!(`x${i}`, 1)
  const count = launched(scaler.decide(fleet(cpus, booting), 1))
  assert.equal(launched(scaler.decide(fleet(cpus, booting + count), 2)), 0)
  return count
}

test('CP-12 it starts with two workers, and never has fewer for long', () => {
  const scaler = onMisfit(spec)
  assert.equal(launched(scaler.decide(fleet([]), 0)), 2)
  assert.equal(launched(scaler.decide(fleet([], 2), 1)), 0)
  assert.equal(launched(scaler.decide(fleet([0.1], 0), 2)), 1)
})

test('CP-14 a dead worker is replaced only if fewer than two have at most 20 % CPU', () => {
  assert.equal(afterDeaths(1, [0.9, 0.2]), 1)
  assert.equal(afterDeaths(1, [0.9, 0.21, 0.2]), 1)
  assert.equal(afterDeaths(1, [0.9, 0.2, 0.2]), 0)
  assert.equal(afterDeaths(1, [0, 0, 0]), 0)
})

test('CP-14 several dead workers are replaced, up to the maximum; an unknown CPU is not low', () => {
  assert.equal(afterDeaths(3, [0.9, 0.9, 0.1]), 3)
  assert.equal(afterDeaths(3, [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], 1), 1)
  assert.equal(afterDeaths(1, [null, null, 0.1]), 1)
})

test('CP-14 a replacement whose launch failed is launched again, until it is ready', () => {
  const scaler = onMisfit(spec)
  scaler.decide(fleet([0.9, 0.9, 0.9, 0.9]), 0)
  scaler.lost!('d', 1)
  assert.equal(launched(scaler.decide(fleet([0.9, 0.9, 0.9]), 1)), 1)
  assert.equal(launched(scaler.decide(fleet([0.9, 0.9, 0.9], 1), 2)), 0)
  const again = scaler.decide(fleet([0.9, 0.9, 0.9]), 3)
  assert.deepEqual([launched(again), again.reason.code], [1, 'dead-replaced'])
  assert.equal(launched(scaler.decide(fleet([0.9, 0.9, 0.9, 0.9]), 4)), 0)
  // The replacement was ready, so that its later end is a new matter.
  assert.equal(launched(scaler.decide(fleet([0.9, 0.9, 0.9]), 5)), 0)
})

test('CP-15 after eleven minutes in a row with at most 20 % CPU a worker is ended, whatever it holds', () => {
  const scaler = onMisfit(spec)
  assert.deepEqual(minutes(scaler, 11, [0.5, 0.5, 0.2]), [...Array.from({ length: 10 }, () => ''), 'c'])
})

test('CP-15 the count returns to 0 when CPU is higher, and pauses while it is unknown', () => {
  const scaler = onMisfit(spec)
  assert.equal(minutes(scaler, 10, [0.5, 0.5, 0.2, 0.5]).join(''), '')
  assert.equal(minutes(scaler, 1, [0.5, 0.5, 0.3, null], 10).join(''), '')
  assert.equal(minutes(scaler, 10, [0.5, 0.5, 0.1, null], 11).join(''), '')
  assert.equal(scaler.figuresOf!('c').lowCpuFor, 10)
  assert.equal(minutes(scaler, 1, [0.5, 0.5, 0.1, null], 21).join(''), 'c')
})

test('CP-15 with two workers none is ended, and of more, two remain', () => {
  assert.equal(minutes(onMisfit(spec), 30, [0, 0]).join(''), '')
  assert.equal(minutes(onMisfit(spec), 11, [0, 0, 0, 0, 0]).at(-1), 'abc')
  assert.equal(minutes(onMisfit({ min: 4, max: 10 }), 11, [0, 0, 0, 0, 0]).at(-1), 'a')
})

test('CP-15 while a worker is above 75 %, only if two others with low CPU remain, decided each minute', () => {
  assert.equal(minutes(onMisfit(spec), 11, [0.75, 0.5, 0]).at(-1), 'c')
  assert.equal(minutes(onMisfit(spec), 30, [0.76, 0.5, 0]).join(''), '')
  assert.equal(minutes(onMisfit(spec), 30, [0.76, 0, 0]).join(''), '')
  assert.equal(minutes(onMisfit(spec), 11, [0.76, 0, 0, 0]).at(-1), 'b')
  const scaler = onMisfit(spec)
  minutes(scaler, 15, [0.76, 0.5, 0])
  assert.equal(ended(scaler.decide(fleet([0.7, 0.5, 0]), 15 * minute)), 'c')
})

test('CP-15 changes of the fleet between two minutes are not counted', () => {
  const scaler = onMisfit(spec)
  for (let i = 0; i < 40; i++) assert.equal(ended(scaler.decide(fleet([0.5, 0.5, 0]), i * 1000)), '')
  assert.equal(scaler.figuresOf!('c').lowCpuFor, 1)
})

test('invalid options are rejected by name', () => {
  for (const lowCpu of [{ everyMs: 0 }, { low: -1 }, { high: 0.1 }, { times: 0 }, { spare: 0.5 }]) {
    const [name] = Object.keys(lowCpu)
    assert.throws(
      () => onMisfit({ ...spec, lowCpu }),
      (error: Error) => error instanceof ConfigError && error.message.includes(`scale.lowCpu.${name} = `),
    )
  }
})
