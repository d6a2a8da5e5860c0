import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, textOf } from './choices.ts'

test('a type is tried in all subnets before the next type is', () => {
  const order = choicesOf(['a', 'b'], ['subnet-1', 'subnet-2']).inOrder(0)
  assert.deepEqual(order.map(textOf), ['a in subnet-1', 'a in subnet-2', 'b in subnet-1', 'b in subnet-2'])
})

test('a choice without capacity is tried last for five minutes', () => {
  const choices = choicesOf(['a', 'b'], [])
  choices.failed(choices.inOrder(0)[0]!, 1000)
  assert.deepEqual(choices.inOrder(1000).map(textOf), ['b', 'a'])
  assert.deepEqual(choices.inOrder(301_000).map(textOf), ['a', 'b'])
})

test('without a list, the launch template decides', () => {
  assert.deepEqual(choicesOf([], []).inOrder(0), [{ type: undefined, subnet: undefined }])
})
