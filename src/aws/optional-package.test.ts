import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { optionalPackage } from './optional-package.ts'

const missing = 'plimsoll-has-no-such-package'

test('a missing package is a mistake of the configuration, which says what to install', async () => {
  const opening = optionalPackage(missing, '--fleet = ec2', () => import(`${missing}`))
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof ConfigError)
    assert.equal(error.message, `--fleet = ec2: requires npm i ${missing}`)
    return true
  })
})

test('an error of the package itself is passed on', async () => {
  const broken = new Error('broken')
  await assert.rejects(
    optionalPackage('x', '--x', () => Promise.reject(broken)),
    broken,
  )
})
