import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Overhead } from '../model/estimate.ts'
import { Overheads } from './overheads.ts'

const figures = ({ elapsed, ...overhead }: Overhead) => ({ ...overhead, elapsed: elapsed!() })

/** Work per millisecond. */
const nominal = 1000

test('overhead is CPU time beyond the work, and the time between processes', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 2000, cpuMs: 5, wallMs: 7 }, nominal)
  const { elapsed: _, ...overhead } = overheads.of('w')
  assert.deepEqual(overhead, { low: 5, expected: 5, high: 5, work: 5000 })
})

test('the first requests, which wait for slots and compile their code, count little', () => {
  const overheads = new Overheads(nominal)
  const { expected, work } = overheads.of('w')
  for (let i = 0; i < 4; i++) overheads.learn('w', { work: 0, cpuMs: 100, wallMs: 900 }, nominal)
  assert.equal(overheads.of('w').expected, expected)
  assert.equal(overheads.of('w').work, work)
})

test('waiting is not overhead while a few requests do not wait', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 60; i++)
    overheads.learn('w', { work: 0, cpuMs: 1, wallMs: i % 20 === 0 ? 3 : 900 }, nominal)
  assert.equal(overheads.of('w').expected, 3)
})

test('elapsed time is that of requests that did not wait, the slow ones too', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 64; i++) {
    const undisturbedMs = i % 8 === 0 ? 41 : 6
    overheads.learn('w', { work: 0, cpuMs: 1, wallMs: undisturbedMs, undisturbedMs }, nominal)
    overheads.learn('w', { work: 0, cpuMs: 1, wallMs: 900 }, nominal)
  }
  assert.deepEqual(overheads.of('w').elapsed!(), { low: 6, expected: 6, high: 41 })
  assert.deepEqual(overheads.of('new').elapsed!(), { low: 6, expected: 6, high: 41 })
})

test('a few requests show what requests take here, though the first one starts a process', () => {
  const overheads = new Overheads(nominal)
  for (const undisturbedMs of [500, 31, 31, 31, 31, 31])
    overheads.learn('w', { work: 0, cpuMs: 1, wallMs: undisturbedMs, undisturbedMs }, nominal)
  const { expected, high } = overheads.of('w').elapsed!()
  assert.ok(expected > 15 && expected <= 31 && high > 30 && high < 500, `${expected}, up to ${high}`)
})

test('elapsed time without a core grows with the time of the work, among similar requests', () => {
  const overheads = new Overheads(nominal)
  // Others have the core for half of the time.
  for (let i = 0; i < 64; i++)
    overheads.learn('w', { work: 0, cpuMs: 10, wallMs: 20, undisturbedMs: 20 }, nominal)
  assert.equal(overheads.of('w', 0).elapsed!().expected, 20)
  assert.equal(overheads.of('w', 20).elapsed!().expected, 30)
  // Nothing is known of requests that are much larger.
  assert.equal(overheads.of('w', 1000).elapsed!().expected, 20)
})

test('tiny requests say nothing about the elapsed time of large ones', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 16; i++)
    overheads.learn('w', { work: 300_000, cpuMs: 300, wallMs: 303, undisturbedMs: 303 }, nominal)
  const before = overheads.of('w', 300).elapsed!().high
  for (let i = 0; i < 8; i++)
    overheads.learn('w', { work: 0, cpuMs: 0, wallMs: 500, undisturbedMs: 500 }, nominal)
  assert.equal(overheads.of('w', 300).elapsed!().high, before)
})

test('quotes count from the learned rate, the brain from the nominal one', () => {
  const overheads = new Overheads(nominal)
  // The workload runs at half the nominal rate: 2,000 units take 4 ms.
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 2000, cpuMs: 5, wallMs: 5 }, nominal / 2)
  assert.equal(overheads.of('w').expected, 1)
  // Of 5 ms CPU time 3 ms are not covered by the nominal rate, and 2 ms are added for the time between processes.
  assert.equal(overheads.of('w').work, 5000)
})

test('a workload without measurements has the overhead of all workloads', () => {
  const overheads = new Overheads(nominal)
  const before = overheads.of('new')
  assert.ok(before.expected > 0 && before.work > 0)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 0, cpuMs: 4, wallMs: 9 }, nominal)
  assert.equal(overheads.of('new').expected, 9)
})

test('invalid measurements are dropped, and requests faster than their rate have no overhead', () => {
  const overheads = new Overheads(nominal)
  const before = overheads.of('w')
  for (const work of [-1, NaN, Infinity]) overheads.learn('w', { work, cpuMs: 1, wallMs: 5 }, nominal)
  for (const wallMs of [-1, 0, NaN, Infinity]) overheads.learn('w', { work: 1, cpuMs: 1, wallMs }, nominal)
  for (const cpuMs of [-1, NaN, Infinity]) overheads.learn('w', { work: 1, cpuMs, wallMs: 5 }, nominal)
  overheads.learn('w', { work: 1, cpuMs: 1, wallMs: 5 }, 0)
  assert.deepEqual(figures(overheads.of('w')), figures(before))
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 9000, cpuMs: 5, wallMs: 5 }, nominal)
  assert.equal(overheads.of('w').high, 0)
})

test('old requests are forgotten', () => {
  const overheads = new Overheads(nominal)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 0, cpuMs: 20, wallMs: 20 }, nominal)
  for (let i = 0; i < 64; i++) overheads.learn('w', { work: 0, cpuMs: 4, wallMs: 4 }, nominal)
  assert.equal(overheads.of('w').high, 4)
})
