import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
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
