import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guarded } from './observers.ts'

test('an observer that throws is logged once and stops nothing', () => {
  const lines: string[] = []
  let calls = 0
  const observer = guarded(
    {
      observe() {
        calls++
        throw new Error('broken')
      },
    },
    (line) => lines.push(line),
  )
  for (let i = 0; i < 3; i++) observer.observe({ type: 'tick' }, [], i)
  assert.equal(calls, 3)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /an observer of the brain failed: Error: broken/)
})
