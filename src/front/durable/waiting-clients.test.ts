import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingClients } from './waiting-clients.ts'

test('a client whose job is stored is told of it when the front ends, others are refused', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = new WaitingClients()
  const told: string[] = []
  const add = (name: string) => waiting.add(() => told.push(`${name} refused`))
  const answer = (name: string) => () => told.push(`${name} stored`)
  const [one, two] = [add('one'), add('two')]
  add('three')
  add('gone').over()
  one.stored(answer('one'))
  assert.deepEqual(told, [])
  waiting.end()
  two.stored(answer('two'))
  assert.deepEqual(told, ['one stored', 'two stored'])
  t.mock.timers.tick(1_000)
  assert.deepEqual(told, ['one stored', 'two stored', 'three refused'])
  const late = add('late')
  late.stored(answer('late'))
  assert.equal(told.at(-1), 'late stored')
})
