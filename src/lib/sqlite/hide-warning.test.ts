import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutSqliteWarning } from './hide-warning.ts'

test('only the experimental warning about SQLite is hidden', () => {
  const passed: unknown[][] = []
  const emit = withoutSqliteWarning((...values: unknown[]) => {
    passed.push(values)
  })
  emit('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
  emit('SQLite is an experimental feature and might change at any time', { type: 'ExperimentalWarning' })
  assert.deepEqual(passed, [])
  const error = new Error('SQLite is slow today')
  emit('Glob is an experimental feature', 'ExperimentalWarning', 'CODE')
  emit('SQLite is deprecated', 'DeprecationWarning')
  emit('SQLite is full')
  emit(error)
  assert.deepEqual(passed, [
    ['Glob is an experimental feature', 'ExperimentalWarning', 'CODE'],
    ['SQLite is deprecated', 'DeprecationWarning'],
    ['SQLite is full'],
    [error],
  ])
})
