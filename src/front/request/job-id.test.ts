import assert from 'node:assert/strict'
import test from 'node:test'
import { isDirectJobId, newDirectJobId, newJobId } from './job-id.ts'

test('ids of jobs that are answered directly are recognized', () => {
  assert.equal(isDirectJobId(newDirectJobId()), true)
  assert.equal(isDirectJobId(newJobId()), false)
  for (const id of ['', '-d', `${newJobId()}-d-d`, `${newDirectJobId()}\n`, 'x-d'])
    assert.equal(isDirectJobId(id), false, id)
})
