/** A slot that somebody stops: its worker goes on reporting, and the job is tried on another worker. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { usualStalls } from '../../src/brain/limits.ts'
import { until } from '../support/live.ts'
import { livePreset, tellSteps } from '../support/preset-live.ts'

const timeout = 240_000

test('the job of a stopped slot is answered by another worker, and its worker drains', {
  timeout,
}, async (t) => {
  const live = await livePreset(t, 'plimsoll', {
    ...{ min: 2, max: 2 },
    more: {
      files: [join(import.meta.dirname, '..', 'fixtures', 'held-spins.ts')],
      limits: { stalls: { ...usualStalls, afterMs: 2000 } },
    },
  })
  await until(() => live.state().ready === 2, 'two workers are ready')
  const answer = fetch(`${live.url}/spin?name=job&ms=3600000`)
  const runner = () => {
    try {
      return Number(readFileSync(join(live.dataDir, 'job.begun'), 'utf8'))
    } catch {
      return 0
    }
  }
  await until(() => runner() > 0, 'the job runs')
  const stopped = runner()
  const holder = live.state().workers.find(({ jobs }) => jobs.length > 0)!.id
  process.kill(stopped, 'SIGSTOP')
  await until(() => runner() !== stopped, 'the job runs elsewhere')
  writeFileSync(join(live.dataDir, 'job.go'), '')
  const { status, headers } = await answer
  assert.equal(status, 200)
  assert.equal(headers.get('plimsoll-attempts'), '2')
  assert.notEqual(headers.get('plimsoll-worker'), holder)
  const step = live.state().steps.find(({ reason }) => reason.code === 'stalled')
  assert.match(step?.text ?? '', new RegExp(`^${holder} .*a job stood still there for \\d`))
  tellSteps(t, live)
})
