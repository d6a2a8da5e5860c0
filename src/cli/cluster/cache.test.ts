import assert from 'node:assert/strict'
import test from 'node:test'
import { cacheOptions } from '../../config/cluster-options.ts'
import { readOptions } from '../options.ts'
import { cacheFrom } from './cache.ts'

const from = (line: string, own?: string) =>
  cacheFrom(readOptions(line.split(' ').filter(Boolean), cacheOptions).values, own)

test('neither caches nor coalesces by default', () => {
  assert.deepEqual(from(''), {})
  assert.deepEqual(from('--coalesce'), { coalesce: true })
  assert.deepEqual(from('--cache 64'), { cacheBytes: 67_108_864 })
  assert.deepEqual(from('--cache 0.5 --cache-age 10'), { cacheBytes: 524_288, cacheAgeMs: 10_000 })
})

test('rejects options that cannot be combined', () => {
  const refused: [string, string | undefined, RegExp][] = [
    ['--cache -1', undefined, /--cache = -1: must be a number from 0 to 1000000/],
    ['--cache-age 5', undefined, /--cache-age = 5: requires --cache/],
    ['--cache 1', 'own.yaml', /--cache = 1: cannot be combined with the existing server in own.yaml/],
    ['--coalesce', 'own.yaml', /--coalesce: cannot be combined with the existing server in own.yaml/],
  ]
  for (const [line, own, message] of refused)
    assert.throws(() => from(line.replace(' -1', '=-1'), own), { code: 'CONFIG', message })
})
