import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openComponentLog } from './component-log.ts'

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-components-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a file that cannot be written is reported once', async (t) => {
  const reports: string[] = []
  const log = openComponentLog(join(scratch(t), 'none', 'components.log'), (line) => reports.push(line))
  for (let i = 0; i < 3; i++) log.line('retraining: again')
  await log.close()
  log.line('retraining: after')
  assert.equal(reports.length, 1)
  assert.match(reports[0]!, /cannot be written: ENOENT/)
})

test('a file that can be written again is, and the number of lost lines is reported', async (t) => {
  const reports: string[] = []
  const folder = join(scratch(t), 'later')
  const reported = Promise.withResolvers<void>()
  const report = (line: string) => {
    reports.push(line)
    reported.resolve()
  }
  const log = openComponentLog(join(folder, 'components.log'), report, 0)
  for (let i = 0; i < 3; i++) log.line('retraining: lost')
  await reported.promise
  mkdirSync(folder)
  log.line('retraining: kept')
  await log.close()
  assert.match(reports[0]!, /cannot be written: ENOENT/)
  assert.match(reports[1]!, /is written again; lines lost: 3$/)
  assert.equal(reports.length, 2)
  assert.match(readFileSync(join(folder, 'components.log'), 'utf8'), /^\{.*"why":"kept"\}\n$/)
})

test('a device without space is reported once', async () => {
  const reports: string[] = []
  const log = openComponentLog('/dev/full', (line) => reports.push(line))
  for (let i = 0; i < 3; i++) log.line('retraining: lost')
  await log.close()
  assert.equal(reports.length, 1)
  assert.match(reports[0]!, /\/dev\/full cannot be written: ENOSPC/)
})
