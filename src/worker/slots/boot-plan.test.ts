import assert from 'node:assert/strict'
import test from 'node:test'
import { type BootState, bootsNow, slotStartsOf, usualBootMs } from './boot-plan.ts'

const calm: BootState = { waiting: 0, idle: 1, booting: 0, warm: 1, most: 2, bootMs: 200, remainingMs: [] }

test('slots boot ahead of need until the warm number is idle', () => {
  assert.equal(bootsNow(calm), 0)
  assert.equal(bootsNow({ ...calm, idle: 0 }), 1)
  assert.equal(bootsNow({ ...calm, idle: 0, booting: 1 }), 0)
})

test('waiting jobs boot no more slots at the same time than allowed', () => {
  assert.equal(bootsNow({ ...calm, idle: 0, waiting: 20 }), 2)
  assert.equal(bootsNow({ ...calm, idle: 0, waiting: 20, booting: 1 }), 1)
  assert.equal(bootsNow({ ...calm, idle: 0, waiting: 20, booting: 2 }), 0)
})

test('no slot boots for a job that gets the slot of an ending job sooner', () => {
  const state = { ...calm, warm: 0, idle: 0, waiting: 1 }
  assert.equal(bootsNow({ ...state, remainingMs: [199] }), 0)
  assert.equal(bootsNow({ ...state, remainingMs: [201] }), 1)
  assert.equal(bootsNow({ ...state, remainingMs: [199], waiting: 2 }), 1)
  assert.equal(bootsNow({ ...state, remainingMs: [0], bootMs: undefined }), 1)
})

test('the usual duration of a boot follows the latest boots', () => {
  let usual = usualBootMs(undefined, 100)
  assert.equal(usual, 100)
  for (let i = 0; i < 20; i++) usual = usualBootMs(usual, 500)
  assert.ok(usual > 490 && usual <= 500)
})

test('slots in use and idle ones are ready for jobs; without a measured boot nothing is known', () => {
  assert.deepEqual(slotStartsOf(3, 2, 120.4), { ready: 5, startMs: 120 })
  assert.equal(slotStartsOf(3, 2, undefined), undefined)
})
