import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AwsError } from './aws-error.ts'
import { pauseMs, repeated } from './repeat.ts'

test('pauses double up to 20 s, and spread below that', () => {
  assert.deepEqual(
    [1, 2, 3, 10].map((failures) => pauseMs(failures, 1)),
    [500, 1000, 2000, 20_000],
  )
  assert.equal(pauseMs(3, 0), 200)
})

test('only errors that may pass are repeated, up to a limit', async () => {
  const patience = { most: 3, wait: async () => {}, random: () => 1 }
  const calls = async (...kinds: ('throttled' | 'denied')[]) => {
    let count = 0
    const call = async () => {
      const kind = kinds[count++]
      if (kind) throw new AwsError(kind, kind)
    }
    await repeated(patience, call).catch(() => {})
    return count
  }
  assert.equal(await calls('throttled'), 2)
  assert.equal(await calls('throttled', 'throttled', 'throttled', 'throttled'), 3)
  assert.equal(await calls('denied'), 1)
})
