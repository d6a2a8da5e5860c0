import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { checkPackage } from './optional-package.ts'

const missing = 'plimsoll-has-no-such-package'

test('a missing package is a mistake of the configuration, which says what to install', () => {
  assert.throws(
    () => checkPackage(missing, '--fleet = ec2'),
    (error) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.message, `--fleet = ec2 requires npm i ${missing}`)
      return true
    },
  )
})

test('an installed package is no mistake', () => {
  assert.doesNotThrow(() => checkPackage('undici', '--fleet = ec2'))
})
