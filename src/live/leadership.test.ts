import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochOf } from '../wire/leading.ts'
import { Leadership } from './leadership.ts'

const seconds = 1_800_000_000

function leadership(isShared = true) {
  const told: (number | string)[] = []
  const subject = new Leadership({ isShared, leads: false, epoch: seconds })
  subject.on({ began: (epoch) => told.push(epoch), ended: () => told.push('ended') })
  return { subject, told }
}

test('only the cluster that leads accepts workers and fronts that follow the leader', () => {
  const { subject, told } = leadership()
  assert.equal(subject.refusal(undefined), undefined, 'it joins any cluster')
  assert.match(subject.refusal(0)!, /another cluster/)
  subject.led(3)
  assert.equal(subject.refusal(0), undefined)
  assert.equal(subject.refusal(3), undefined)
  subject.led(undefined)
  subject.led(undefined)
  assert.match(subject.refusal(3)!, /another cluster/)
  assert.deepEqual(told, [epochOf(3), 'ended'])
})

test('a former leader that does not know of a newer one is refused by its term', () => {
  const { subject } = leadership()
  subject.led(3)
  assert.match(subject.refusal(4)!, /another cluster/)
})

test('a cluster that shares no store leads always', () => {
  assert.equal(leadership(false).subject.refusal(0), undefined)
})

test('epochs of a later term are greater, whatever the clocks say, and grow within a term', () => {
  const { subject, told } = leadership()
  subject.led(3)
  subject.led(3)
  subject.led(4)
  assert.deepEqual(told, [epochOf(3), epochOf(3) + 1, epochOf(4)])
  assert.ok(epochOf(1) > seconds)
})
