import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openLogFile } from './log-file.ts'

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-components-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a file that cannot be written is reported once', async (t) => {
  const reports: string[] = []
  const log = openLogFile(join(scratch(t), 'none', 'some.log'), (line) => reports.push(line))
  for (let i = 0; i < 3; i++) log.write({ why: 'again' })
  await log.close()
  log.write({ why: 'after' })
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
  const log = openLogFile(join(folder, 'some.log'), report, 0)
  for (let i = 0; i < 3; i++) log.write({ why: 'lost' })
  await reported.promise
  mkdirSync(folder)
  log.write({ why: 'kept' })
  await log.close()
  assert.match(reports[0]!, /cannot be written: ENOENT/)
  assert.match(reports[1]!, /is written again; lines lost: 3$/)
  assert.equal(reports.length, 2)
  assert.match(readFileSync(join(folder, 'some.log'), 'utf8'), /^\{.*"why":"kept"\}\n$/)
})

test('a device without space is reported once', async () => {
  const reports: string[] = []
  const log = openLogFile('/dev/full', (line) => reports.push(line))
  for (let i = 0; i < 3; i++) log.write({ why: 'lost' })
  await log.close()
  assert.equal(reports.length, 1)
  assert.match(reports[0]!, /\/dev\/full cannot be written: ENOSPC/)
})
