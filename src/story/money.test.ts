import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { usualPrices } from '../model/prices.ts'
import { Bill } from './money.ts'

const reason = { code: 'test' }
const tick: Event = { type: 'tick' }
const hour = 3_600_000
const prices = { ...usualPrices, workerHour: 2, gbSecond: 0.01, request: 0.5 }

const launch = (id: string): Action => ({ type: 'launch', launch: id, reason })
const end = (worker: string): Action => ({ type: 'terminate', worker, reason })
const joins = (id: string, by?: string): Event => ({
  type: 'joined',
  worker: { id, cores: 1, workPerSecond: 1, memoryMb: 1, slots: 1 },
  ...(by !== undefined && { launch: by }),
  seq: 1,
  held: [],
})
const token = { epoch: 1, job: 'j', attempt: 1 }
const overflow: Action = { type: 'overflow', ...token, function: 'function:local', reason }

test('a worker is billed from its launch to its end', () => {
  const bill = new Bill(prices)
  bill.observe(tick, [launch('1')], 0)
  bill.observe(joins('w1', '1'), [], hour / 2)
  assert.equal(bill.at(hour).workers, 2)
  bill.observe(tick, [end('w1')], 2 * hour)
  assert.equal(bill.at(10 * hour).workers, 4)
})

test('a failed launch is billed until it is given up', () => {
  const bill = new Bill(prices)
  bill.observe(tick, [launch('1')], 0)
  bill.observe(tick, [{ type: 'abandon', launch: '1', reason }], hour)
  assert.equal(bill.at(5 * hour).workers, 2)
})

test('a worker started manually is billed once, from its first join', () => {
  const bill = new Bill(prices)
  bill.observe(joins('w1'), [], hour)
  bill.observe(joins('w1'), [], 2 * hour)
  assert.equal(bill.at(3 * hour).workerHours, 2)
})

test('a worker of an unknown launch is not billed', () => {
  const bill = new Bill(prices)
  bill.observe(joins('w1', 'gone'), [end('w1')], 0)
  assert.equal(bill.at(hour).spent, 0)
})

test('billing has a minimum time and then proceeds in steps', () => {
  const bill = new Bill({ ...prices, workerLeastMs: hour, workerStepMs: hour / 4 })
  bill.observe(joins('w1'), [], 0)
  assert.equal(bill.at(1).workerHours, 1)
  assert.equal(bill.at(hour * 1.1).workerHours, 1.25)
})

test('savings are relative to a fleet fixed at its peak', () => {
  const bill = new Bill(prices)
  bill.observe(joins('w1'), [], 0)
  bill.observe(joins('w2'), [], hour)
  bill.observe(tick, [end('w2')], 2 * hour)
  const { peakWorkers, fixedAtPeak, spent, saved } = bill.at(4 * hour)
  assert.deepEqual(
    { peakWorkers, fixedAtPeak, spent, saved },
    { peakWorkers: 2, fixedAtPeak: 16, spent: 10, saved: 6 },
  )
})

test('a function is billed by memory, time and request', () => {
  const bill = new Bill(prices, 512)
  bill.observe(tick, [overflow], 0)
  assert.deepEqual(bill.at(2000).functions, 0.51)
  bill.observe(
    { type: 'finished', ...token, worker: 'function:local', work: 1 },
    [{ type: 'answer', job: 'j', outcome: 'result', reason }],
    4000,
  )
  const { functions, functionGbSeconds, functionRequests } = bill.at(hour)
  assert.deepEqual(
    { functions, functionGbSeconds, functionRequests },
    { functions: 0.52, functionGbSeconds: 2, functionRequests: 1 },
  )
})

test('a throttled attempt is not billed; a failed or cancelled one is', () => {
  const failed = (kind: 'throttled' | 'crash'): Event => ({
    type: 'failed',
    ...token,
    worker: 'function:local',
    kind,
  })
  const retry: Action = { type: 'retry', ...token, worker: 'function:local', reason }
  const requests = (event: Event, actions: Action[]) => {
    const bill = new Bill(prices, 512)
    bill.observe(tick, [overflow], 0)
    bill.observe(event, actions, 1000)
    return bill.at(hour).functionRequests
  }
  assert.equal(requests(failed('throttled'), [retry]), 0)
  assert.equal(requests(failed('crash'), [retry]), 1)
  assert.equal(requests({ type: 'cancelled', job: 'j' }, []), 1)
  assert.equal(requests(tick, [{ type: 'cancel', ...token, worker: 'function:local', reason }]), 1)
})

test('invalid prices are rejected with name, value and allowed range', () => {
  assert.throws(
    () => new Bill({ ...prices, workerHour: -1 }),
    new ConfigError('prices.workerHour = -1: must be a finite number, 0 or more'),
  )
})
