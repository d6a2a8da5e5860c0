import assert from 'node:assert/strict'
import test from 'node:test'
import { passedEnvironment, withheldLine } from './environment.ts'

const all = {
  PATH: '/bin',
  LC_TIME: 'C',
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://secret',
  AWS_REGION: 'eu',
  AWS_SECRET_ACCESS_KEY: 'secret',
  PLIMSOLL_TOKEN: 'secret',
  NODE_CHANNEL_FD: '3',
  SHLVL: '1',
}

test('only usual variables are passed on unless others are named', () => {
  assert.deepEqual(Object.keys(passedEnvironment(all)), ['PATH', 'LC_TIME', 'NODE_ENV'])
  assert.deepEqual(Object.keys(passedEnvironment(all, ['DATABASE_URL', 'MISSING'])), [
    ...['PATH', 'LC_TIME', 'NODE_ENV', 'DATABASE_URL'],
  ])
  assert.deepEqual(Object.keys(passedEnvironment(all, ['AWS_*'])).slice(3), [
    'AWS_REGION',
    'AWS_SECRET_ACCESS_KEY',
  ])
})

test('the token of the cluster is never passed on, even if everything else is', () => {
  const { PLIMSOLL_TOKEN: _, NODE_CHANNEL_FD: __, ...others } = all
  assert.deepEqual(passedEnvironment(all, ['*']), others)
})

test('the line about withheld variables has their names, not their values', () => {
  const line = withheldLine(all, ['AWS_REGION'], { DATABASE_URL: 'given' })
  assert.match(
    line!,
    /^withheld environment variables: AWS_SECRET_ACCESS_KEY; pass what it needs with --pass-env/,
  )
  assert.doesNotMatch(line!, /secret/)
  assert.equal(withheldLine(all, ['*']), undefined)
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`V${i}`, 'x']))
  assert.match(withheldLine(many)!, / and 5 more; /)
})
