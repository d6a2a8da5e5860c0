import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextState, noOverload, type OverloadState, type Readings } from './steps.ts'

/** Feeds readings at times in virtual milliseconds, and lists the step after each. */
function stepsOf(...readings: [now: number, readings: Readings][]): number[] {
  let state = noOverload
  return readings.map(([now, reading]) => {
    state = nextState(state, reading, now)
    return state.step
  })
}

function after(...readings: [now: number, readings: Readings][]): OverloadState {
  return readings.reduce((state, [now, reading]) => nextState(state, reading, now), noOverload)
}

test('memory and descriptors lead to a step as soon as they reach its share of the limit', () => {
  for (const resource of ['memory', 'descriptors'] as const) {
    const steps = [0.79, 0.8, 0.87, 0.88, 0.94, 0.95, 1.2].map((reading, i) =>
      stepsOf([i, { [resource]: reading }]),
    )
    assert.deepEqual(steps.flat(), [0, 1, 1, 2, 2, 3, 3])
  }
})

test('a step ends only after a calm period well below it, and one at a time', () => {
  const calm = { memory: 0.5 }
  assert.deepEqual(
    stepsOf(
      [0, { memory: 0.96 }],
      // Below the beginning of step 3, but not far enough.
      [10_000, { memory: 0.94 }],
      [20_000, { memory: 0.94 }],
      [21_000, calm],
      [22_999, calm],
      [23_000, calm],
      [24_999, calm],
      [25_000, calm],
      [26_999, calm],
      [27_000, calm],
    ),
    [3, 3, 3, 3, 3, 2, 2, 1, 1, 0],
  )
})

test('a reading that rises again interrupts the calm period', () => {
  const calm = { memory: 0.5 }
  const last = after(
    [0, { memory: 0.81 }],
    [1_000, calm],
    [2_500, calm],
    [2_600, { memory: 0.8 }],
    [3_100, calm],
    [5_000, calm],
  )
  assert.equal(last.step, 1)
  assert.equal(nextState(last, calm, 5_100).step, 0)
})

test('one long pause of the event loop is not overload; lasting delays are', () => {
  const late = { loop: 4_000 }
  assert.deepEqual(stepsOf([0, late], [250, { loop: 5 }], [4_000, late], [4_250, { loop: 5 }]), [0, 0, 0, 0])
  const lasting = (loop: number, everyMs: number, readings: number) =>
    stepsOf(...Array.from({ length: readings }, (_, i): [number, Readings] => [i * everyMs, { loop }])).at(-1)
  assert.deepEqual([lasting(600, 250, 8), lasting(600, 250, 9)], [0, 1])
  assert.deepEqual([lasting(4_000, 4_000, 4), lasting(4_000, 4_000, 5)], [0, 3])
})

test('pauses that follow each other before another reading are not overload', () => {
  const late = { loop: 4_000 }
  const calm = { loop: 5 }
  assert.deepEqual(stepsOf([0, late], [4_100, late], [8_200, late], [8_450, calm]), [0, 0, 0, 0])
})

test('a long queue leads to shedding, and to nothing else', () => {
  assert.deepEqual(stepsOf([0, { queue: 0.79 }], [1, { queue: 0.8 }], [2, { queue: 1 }]), [0, 2, 2])
  const pressures = [0.8, 0.9, 1].map((queue) => after([0, { queue }]).pressure)
  assert.deepEqual(
    pressures.map((pressure) => Number(pressure.toFixed(6))),
    [0.1, 0.5, 1],
  )
})

test('the pressure grows from step 2 to step 3', () => {
  const pressures = [0.87, 0.88, 0.915, 0.95].map((memory) => after([0, { memory }]).pressure)
  assert.deepEqual(
    pressures.map((pressure) => Number(pressure.toFixed(6))),
    [0, 0.1, 0.5, 1],
  )
})

test('the highest step of any resource counts, and names its cause', () => {
  const state = after([0, { memory: 0.81, descriptors: 0.9, loop: 5, queue: 0 }])
  assert.equal(state.step, 2)
  assert.deepEqual(state.cause, { resource: 'descriptors', reading: 0.9 })
})

test('an unknown reading changes nothing', () => {
  assert.deepEqual(stepsOf([0, { memory: 0.96 }], [60_000, {}], [120_000, {}]), [3, 3, 3])
  assert.deepEqual(stepsOf([0, {}]), [0])
})
