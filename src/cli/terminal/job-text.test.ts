import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type FollowedJob, jobText, leftText } from './job-text.ts'

const time = (s: number) => new Date(s * 1000).toISOString()

const job = (changes: Partial<FollowedJob> = {}): FollowedJob => ({
  ...{ id: 'one', workload: 'w', method: 'POST', target: '/w?n=1', state: 'running', acceptedAt: time(0) },
  eta: { earliest: time(10), expected: time(20), latest: time(30) },
  ...changes,
})

test('the expected end is that of the cluster, as an interval', () => {
  const at = (s: number, changes?: Partial<FollowedJob>) => leftText(job(changes), s * 1000)
  assert.equal(at(5), 'in 15.0 s (5.00 s to 25.0 s)')
  assert.equal(at(24), 'within 6.00 s')
  assert.equal(at(90), 'overdue by 60.0 s')
  assert.equal(at(90, { state: 'answered' }), undefined)
})

test('a job is described by its request, its webhook and the id of its story', () => {
  const text = jobText(
    job({
      ...{ state: 'cancelled', webhook: { state: 'waiting', tries: 2, problem: 'ECONNREFUSED' } },
      facts: { saved: 164772811141.63733, job: '1.7' },
    }),
    0,
  )
  const lines = stripVTControlCharacters(text).split('\n')
  for (const line of [
    'request       POST /w?n=1',
    'saved         164,772,811,142 units of work',
    'webhook       waiting after 2 tries: ECONNREFUSED',
    'story         plimsoll why 1.7',
  ])
    assert.ok(lines.includes(line), text)
})
