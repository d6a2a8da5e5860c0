import assert from 'node:assert/strict'
import test from 'node:test'
import { passEnvFrom } from './pass-env.ts'

test('names are separated by commas, and a star ends the beginning of names', () => {
  assert.deepEqual(passEnvFrom(undefined), [])
  assert.deepEqual(passEnvFrom(''), [])
  assert.deepEqual(passEnvFrom('DATABASE_URL, AWS_*'), ['DATABASE_URL', 'AWS_*'])
  assert.deepEqual(passEnvFrom('*'), ['*'])
})

test('what is not a name is rejected with the rule', () => {
  for (const list of ['A=1', 'A,,B', '1A', 'A*B', 'A B'])
    assert.throws(() => passEnvFrom(list), { code: 'CONFIG', message: /^--pass-env = .*separated by commas/ })
})

test('variables of Plimsoll itself cannot be passed on', () => {
  assert.throws(() => passEnvFrom('HOME,PLIMSOLL_TOKEN'), { message: /PLIMSOLL_TOKEN .*never passed on/ })
  assert.throws(() => passEnvFrom('PLIMSOLL_*'), { code: 'CONFIG' })
})
