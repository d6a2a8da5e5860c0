import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from './request.ts'

test('options that need the answer cannot be combined with --async', async () => {
  for (const [option, value] of [['--why'], ['--out', 'file']] as const)
    await assert.rejects(async () => request.run(['w', '--async', option, ...(value ? [value] : [])]), {
      code: 'CONFIG',
      message: new RegExp(`^${option}: cannot be combined with --async`),
    })
})
